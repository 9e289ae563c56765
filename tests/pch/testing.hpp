// SPDX-License-Identifier: Apache-2.0
// Precompiled for the tests, as lib/pch/standard.hpp is for the libraries.
#include "../../lib/pch/standard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
