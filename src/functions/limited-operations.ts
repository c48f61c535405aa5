// The operations that the energy budget of a function limits: the minutes of its cell. The first is that of charges
// before functions had an operation of their own, which count on their day too.

export const FUNCTION_LIMITED = ['cell.standing', 'function.standing'] as const
