// Limits of the host names of workloads and functions that programs without schemas know too.
export const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/

/** Host names that a workload or a function has at most, beside its own address. */
export const HOSTS_MAX = 10
