! SPDX-License-Identifier: Apache-2.0
! A Fortran program that knows nothing of chorus, by `use mpi`.
program fortran_mpi
  use mpi
  implicit none
  external :: take_last
  integer :: rank, ranks, error, turn, total
  integer, allocatable :: table(:)
  double precision :: sums(3)
  double complex :: turned(2)
  integer :: pair(2), ordered(3)
  integer :: last_of_each
  logical :: all_true
  character(len=5) :: word

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  allocate (table(ranks))
  total = ranks*(ranks - 1)/2
  call MPI_Op_create(take_last, .false., last_of_each, error)
  do turn = 1, 20
    sums = [1d0, dble(rank), dble(turn)]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    if (any(sums /= [dble(ranks), dble(total), dble(ranks*turn)])) call wrong('allreduce in place')

    turned = cmplx(rank, 1, kind=kind(turned))
    call MPI_Allreduce(MPI_IN_PLACE, turned, 2, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
    if (any(turned /= cmplx(total, ranks, kind=kind(turned)))) call wrong('allreduce of complex numbers')

    call MPI_Allgather(rank*10, 1, MPI_INTEGER, table, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    if (sum(table) /= 10*total .or. table(ranks) /= 10*(ranks - 1)) call wrong('allgather')

    word = merge('right', 'wrong', rank == ranks - 1)
    call MPI_Bcast(word, 5, MPI_CHARACTER, ranks - 1, MPI_COMM_WORLD, error)
    if (word /= 'right') call wrong('bcast')

    table = rank
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, table, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    if (table(1) /= ranks - 1) call wrong('reduce_scatter_block')

    call MPI_Reduce(rank, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (total /= ranks*(ranks - 1)/2) call wrong('reduce')

    call MPI_Allreduce(rank < ranks, all_true, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
    if (.not. all_true) call wrong('allreduce of logicals')

    pair = [mod(rank, 2), rank]
    call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, error)
    if (any(pair /= 0)) call wrong('place of the least')

    ordered = [rank, -1, merge(-1, rank, rank == ranks - 1)]
    call MPI_Allreduce(MPI_IN_PLACE, ordered, 3, MPI_INTEGER, last_of_each, MPI_COMM_WORLD, error)
    if (any(ordered /= [ranks - 1, -1, ranks - 2])) call wrong('function of the program')
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Op_free(last_of_each, error)
  if (rank == 0) print *, 'fortran: right'
  call MPI_Finalize(error)
contains
  subroutine wrong(what)
    character(len=*), intent(in) :: what
    print *, 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine wrong
end program fortran_mpi

! The last number that is not negative.
subroutine take_last(in, inout, count, type)
  use mpi
  implicit none
  integer :: count, type
  integer :: in(count), inout(count)
  if (type /= MPI_INTEGER) error stop 'type of the function'
  where (inout < 0) inout = in
end subroutine take_last
