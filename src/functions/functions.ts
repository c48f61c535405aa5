// The functions of this node: which version runs, how a new one is tried, and what a request wakes.
import { decrypt } from '#base/encryption.ts'
import { ErgonError } from '#base/errors.ts'
import { Secret, type Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { createInstances, NotWanted, type Instances } from '#resources/instances.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import type { FunctionDriver, FunctionSpec, RunningFunction } from './driver.ts'
import { environmentPurpose } from './settings.ts'

export interface Functions extends Pick<
  Instances<Resource, RunningFunction>,
  'use' | 'stop' | 'close'
> {
  /**
   * Makes the wanted version live, once it has been started alone. A version that cannot be loaded is marked: it is not
   * tried again. Throws function_failed where no version is live.
   */
  deploy(resource: Resource, signal: AbortSignal): Promise<void>
  remove(id: string): Promise<void>
}

export type FunctionsDeps = {
  readonly state: Queryable
  readonly log: Logger
  readonly driver: FunctionDriver
  readonly environmentKey: string
  readonly idleMs: number
  /** Called before a function ends. */
  readonly ending: (id: string) => void
}

type CodeRow = Omit<FunctionSpec, 'env' | 'memoryBytes'> & {
  readonly memoryBytes: string
  readonly sealedEnv: string
  readonly failure: string | null
  readonly isLive: boolean
}

export function createFunctions(deps: FunctionsDeps): Functions {
  const { state, log, driver, idleMs, ending } = deps
  const instances = createInstances<Resource, RunningFunction>({
    state,
    log,
    idleMs,
    start: async ({ id }) => driver.start(specOf(deps, await readVersion(state, id, 'live'))),
  })
  const end = (id: string, work: () => Promise<void>) => {
    ending(id)
    return instances.without(id, work)
  }
  return {
    use: (resource, waker, signal) => instances.use(resource, waker, signal),
    stop(id, cause) {
      ending(id)
      return instances.stop(id, cause)
    },
    close: () => instances.close(),
    async deploy({ id }, signal) {
      const wanted = await readVersion(state, id, 'wanted')
      if (wanted.isLive) return
      if (wanted.failure === null) await end(id, () => tryVersion(deps, wanted, signal))
      await assertLive(state, id)
    },
    remove: (id) =>
      end(id, async () => void (await state.query('select remove_function($1)', [id]))),
  }
}

/** Starts a version alone, and makes it live, or writes down why it cannot be. */
async function tryVersion(deps: FunctionsDeps, row: CodeRow, signal: AbortSignal): Promise<void> {
  const { state, driver } = deps
  const one = await driver.start(specOf(deps, row))
  try {
    await one.ready(signal)
    const { rows } = await state.query<{ made: boolean }>(
      'select make_function_live($1, $2) as made',
      [row.id, row.version],
    )
    // Its route may be another function's by now.
    if (rows[0]?.made !== true) throw new NotWanted(row.id)
  } catch (error) {
    if (!(error instanceof ErgonError) || error.code !== 'function_failed') throw error
    await state.query(
      'update function_versions set failure = $3 where function = $1 and version = $2',
      [row.id, row.version, whyOf(error)],
    )
  } finally {
    // Nobody has asked it anything yet.
    await one.end('failed')
  }
}

const whyOf = ({ message }: ErgonError): string => message.slice(message.indexOf(': ') + 2)

async function assertLive(state: Queryable, id: string): Promise<void> {
  const { rowCount } = await state.query(
    'select from functions where id = $1 and live_version is not null',
    [id],
  )
  if (rowCount === 0) throw fault('function_failed', `Could not start any version: ${id}`)
}

function specOf({ environmentKey }: FunctionsDeps, row: CodeRow): FunctionSpec {
  const { sealedEnv, memoryBytes, failure: _, isLive: __, ...rest } = row
  const key = new Secret(environmentKey)
  const env = decrypt(sealedEnv, key, environmentPurpose(row.account)).reveal()
  return {
    ...rest,
    memoryBytes: Number(memoryBytes),
    env: JSON.parse(env) as FunctionSpec['env'],
  }
}

/** Throws NotWanted where there is none. */
async function readVersion(
  state: Queryable,
  id: string,
  which: 'live' | 'wanted',
): Promise<CodeRow> {
  const { rows } = await state.query<CodeRow>(
    `select f.id, f.account, n.name, v.version, v.runtime, v.file, v.source, v.memory_bytes::text as "memoryBytes",
       v.timeout_s as "timeoutS", v.sealed_env as "sealedEnv", v.failure, v.version = f.live_version as "isLive"
     from functions f join resources n using (id) join function_versions v
       on v.function = f.id and v.version = case $2 when 'live' then f.live_version else f.version end
     where f.id = $1`,
    [id, which],
  )
  const [row] = rows
  if (row === undefined) throw new NotWanted(`No version of it: ${id}`)
  return row
}
