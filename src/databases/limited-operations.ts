// The operations that the energy budget of a database limits. Stored bytes and backups go on while the server rests.

export const LIMITED = ['cell.standing', 'database.session'] as const
