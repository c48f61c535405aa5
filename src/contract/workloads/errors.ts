// The error codes of workloads: of the API, and of requests to their hosts.
import { account, caller, final, service, type ErrorTable } from '#contract/error-entry.ts'

export const WORKLOADS_ERRORS = {
  workload_not_found: caller(
    404,
    'Check the name: `ergon workloads list`. Functions and databases have commands of their own: `ergon fn`, `ergon db`.',
    'not_found_error',
  ),
  workload_version_not_found: caller(
    404,
    'Choose a version that is kept, and whose volumes are there: `ergon workloads show`.',
    'not_found_error',
  ),
  image_refused: caller(
    422,
    'Name an image of a registry; images in files, and registries on private addresses, are those that the operator names.',
  ),
  too_many_instances: caller(409, 'Lower scale.min of a workload of the account.'),
  volume_quota_exceeded: caller(
    409,
    'Choose a smaller size, or delete a volume: those of an account count by their sizes, full or not.',
  ),
  volume_smaller: caller(409, 'A volume only grows: keep its size, or copy the data to a new one.'),
  volume_left_out: caller(
    409,
    'Name it among the volumes, or in delete_volumes: its data is deleted then.',
  ),
  registry_not_found: caller(404, 'Check the name: `ergon registry list`.', 'not_found_error'),
  too_many_registries: caller(409, 'Forget one that is not needed: `ergon registry logout`.'),
  host_taken: caller(
    409,
    'Choose another host name: a workload or a function has it, or it is our own.',
  ),
  too_many_workloads: caller(409, 'Delete a workload that is not needed any more.'),
  workloads_off: service(
    503,
    'The service runs no containers: the operator starts it with ERGON_WORKLOADS=on, on a machine that can isolate them.',
  ),
  volumes_off: service(
    503,
    'The node has no volumes: the operator starts Ergon as root, on a machine with loop devices and e2fsprogs.',
  ),
  workload_failed: service(502, 'Its owner finds why in its log: `ergon logs`.'),
  workload_crashed: service(502, 'Its owner finds why in its log: `ergon logs`.'),
  workload_timeout: service(504, 'The workload took too long: its owner finds why in its log.'),
  workload_busy: service(503, 'Retry after the time in Retry-After.'),
  workload_starting: service(503, 'Retry after the time in Retry-After.'),
  workload_suspended: final(account(503, 'api_error', 'Its owner resumes it: `ergon resume`.')),
  workload_budget_exhausted: final(
    account(
      503,
      'api_error',
      'Its owner raises the budget by `ergon budget NAME "10 kJ/day"`, or it is renewed at 00:00 UTC.',
    ),
  ),
} as const satisfies ErrorTable
