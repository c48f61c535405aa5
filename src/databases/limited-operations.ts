// The operations that the energy budget of a database limits. Stored bytes go on while the server rests.

export const LIMITED = ['cell.standing', 'database.session', 'database.backup'] as const
