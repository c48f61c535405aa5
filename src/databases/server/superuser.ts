// The logins of the service to the servers of databases: the superuser, which only programs of the service are, and the
// owner, for work whose code may be the owner's.
import { SUPERUSER } from '#postgres/cluster.ts'
import type { StateAddress } from '#state/connect.ts'

/**
 * No schema of a customer is on the path. A function or an operator there can fit a call better than
 * the one of PostgreSQL does, and would run as the superuser. A transaction of a customer that stays open delays the
 * service by a second, and roles can be changed while the database is full.
 */
const OPTIONS = '-c search_path=pg_catalog -c lock_timeout=1s -c default_transaction_read_only=off'

/** The address of a database of the server whose socket is in a folder; of that of the superuser by default. */
export const superuserAddress = (
  folder: string,
  password: string,
  database: string = SUPERUSER,
): StateAddress => ({
  host: folder,
  user: SUPERUSER,
  password,
  database,
  options: OPTIONS,
})

/**
 * The address of a database as its owner, whom the server trusts on its socket. A session of the superuser with the role
 * of the owner is none: code that runs there may take the superuser's rights back.
 */
export const ownerAddress = (folder: string, owner: string, database: string): StateAddress => ({
  host: folder,
  user: owner,
  password: '',
  database,
  options: OPTIONS,
})
