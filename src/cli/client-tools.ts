// PostgreSQL's client programs on a database: those of the service where its data folder is on this machine, else those
// of PATH. Passwords are in their environment, as every user of the machine can read the arguments of a process.
import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  CLIENT_TOOLS,
  INSTALL_RECORD,
  POSTGRES_FOLDER,
  type RungChoice,
} from '#contract/databases/client-tools.ts'
import { toolAddress } from './tool-address.ts'
import { environmentWith } from './environment.ts'
import { CommandError, EXIT } from './output.ts'
import { localDataFolder, type GlobalOptions } from './profile.ts'

/** The least versions: pg_dump reads no newer server, pg_restore no newer dump; psql of 10 has SCRAM. */
const VERSION_LEAST = { pg_dump: 16, pg_restore: 16, psql: 10 } as const
const VERSION_MAX_MS = 20_000
const FROM_WHERE =
  'install postgresql-client-16: Debian 13 or the apt repository of PostgreSQL has it or a later one, Debian 12 has 15; or run the command on the machine of the service with --data <folder> or ERGON_DATA, its data folder'

type ToolName = keyof typeof VERSION_LEAST

export type ClientTool = {
  readonly name: ToolName
  /** Its path, or its name for PATH to find. */
  readonly program: string
  /** The address, without the password. */
  readonly uri: string
  readonly password: string
}

/** Finds a program for an address. Throws a CommandError for a bad address, and where no program will do. */
export async function findTool(
  options: GlobalOptions,
  name: ToolName,
  address: string,
): Promise<ClientTool> {
  const { uri, password, needsTls } = toolAddress(address)
  const own = needsTls ? undefined : toolOfService(options, name)
  if (own === undefined) await demandVersion(name)
  return { name, program: own ?? name, uri, password }
}

export type RunningTool = { readonly process: ChildProcess; readonly name: string }

export function startTool(
  { name, program, uri, password }: ClientTool,
  words: readonly string[],
  stdio: StdioOptions = 'inherit',
): RunningTool {
  const env = environmentWith(password === '' ? {} : { PGPASSWORD: password })
  return { name, process: spawn(program, ['--dbname', uri, ...words], { stdio, env }) }
}

/** Of the server's own version, if the data folder is here and this user may read it. */
function toolOfService(options: GlobalOptions, name: ToolName): string | undefined {
  const local = localDataFolder(options)
  if (local === undefined) return undefined
  const folder = join(local.folder, POSTGRES_FOLDER)
  const record = join(folder, INSTALL_RECORD)
  if (!existsSync(record)) return undefined
  const choice = JSON.parse(readFileSync(record, 'utf8')) as RungChoice
  const tools = choice.rung === 'own' ? choice.binFolder : join(folder, choice.tree, CLIENT_TOOLS)
  const program = join(tools, name)
  return existsSync(program) ? program : undefined
}

async function demandVersion(name: ToolName): Promise<void> {
  const least = VERSION_LEAST[name]
  const { stdout } = await promisify(execFile)(name, ['--version'], {
    timeout: VERSION_MAX_MS,
  }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new CommandError(`There is no ${name} on this machine`, EXIT.failed, FROM_WHERE)
      : error
  })
  const version = Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1])
  if (version >= least) return
  throw new CommandError(
    `The ${name} of this machine will not do: ${stdout.trim()}, and version ${least} or later is needed`,
    EXIT.failed,
    FROM_WHERE,
  )
}

/** Resolves with the exit status. Ctrl-C is for the program, which ends or cancels a query by it. */
export async function endOfTool({ process: tool }: RunningTool): Promise<number> {
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  try {
    const [code] = (await once(tool, 'close')) as [number | null]
    return code ?? EXIT.failed
  } finally {
    process.off('SIGINT', ignore)
  }
}

/** Throws a CommandError unless a program ended well; it has said why not. */
export async function demandDone(tool: RunningTool): Promise<void> {
  const code = await endOfTool(tool)
  if (code !== 0) throw new CommandError(`${tool.name} ended with status ${code}`, EXIT.failed)
}
