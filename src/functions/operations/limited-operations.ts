// The operations that the energy budget of a function limits: the minutes of its cell.

export const FUNCTION_LIMITED = ['cell.standing'] as const
