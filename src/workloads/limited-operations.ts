// The operations that the energy budget of a workload limits: the minutes of its cells.

export const WORKLOAD_LIMITED = ['workload.standing'] as const
