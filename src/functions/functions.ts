// The functions of this node: the running version, the trial of a new one, and the wake by a request.
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { SleepCause } from '#contract/resources/intervals.ts'
import {
  createInstances,
  NotWanted,
  type Instances,
  type UsedInstance,
} from '#resources/instances.ts'
import type { Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import type { FunctionDriver, FunctionSpec, RunningFunction } from './driver.ts'
import type { RoutedResource, ServedKind } from '#node/ingress.ts'
import { openVariables } from '#resources/variables.ts'
import { createTrials } from '#resources/trials.ts'
import { readVersions, type VersionNumbers } from '#resources/versions.ts'

export interface Functions {
  /** The live version, which is read where it is not given; see Instances. */
  use(
    resource: Resource & Partial<RoutedResource>,
    signal: AbortSignal,
    begun?: Parameters<ServedKind['use']>[3],
  ): Promise<UsedInstance<RunningFunction>>
  /** Ends all versions now. */
  stop(id: string, cause: SleepCause): Promise<void>
  /** A request was late: code that blocks its process is ended. */
  unblock(id: string): Promise<void>
  /**
   * Makes the wanted version live, once it has been started beside the live one, which ends when its requests have. A
   * version that cannot be loaded is marked: it is not tried again. Resolves with 'failed' where no version is live.
   */
  deploy(resource: Resource, signal: AbortSignal, aside: () => void): Promise<'failed' | undefined>
  remove(id: string): Promise<void>
  close(): void
}

export type FunctionsDeps = {
  readonly state: Queryable
  /** For the reads of small rows at a start. */
  readonly wakes: Queryable
  readonly log: Logger
  readonly driver: FunctionDriver
  readonly environmentKey: string
  readonly idleMs: number
  /** Later requests ask again which version runs. */
  readonly replaced: (id: string) => void
}

type FunctionVersion = Resource & { readonly version: number }

type CodeRow = Omit<FunctionSpec, 'env' | 'memoryBytes'> & {
  readonly memoryBytes: string
  readonly sealedEnv: string
}

const keyOf = ({ id, version }: Pick<FunctionVersion, 'id' | 'version'>) => `${id} ${version}`

export function createFunctions(deps: FunctionsDeps): Functions {
  const { state, wakes, log, driver, idleMs, replaced } = deps
  const trials = createTrials()
  const starts = createStarts(deps)
  const instances = createInstances<FunctionVersion, RunningFunction>({
    state,
    wishes: wakes,
    log,
    idleMs,
    keyOf,
    async prepare(version) {
      const spec = specOf(deps, await starts.read(version))
      return () => driver.start(spec)
    },
  })
  const stop = async (id: string, cause: SleepCause) => {
    replaced(id)
    await instances.stopAll(id, cause)
  }
  /** Later requests go to the live version, and others end with their requests. Resolves with false where none is live. */
  const answerByLive = async (id: string): Promise<boolean> => {
    const { live } = await versionsOf(state, id)
    if (live === null) return false
    replaced(id)
    instances.retireOthers(id, new Set([keyOf({ id, version: live })]))
    return true
  }
  return {
    async use({ id, account, name, liveVersion }, signal, begun) {
      const version = liveVersion === undefined ? (await versionsOf(state, id)).live : liveVersion
      if (version === null) throw new NotWanted(`No version is live: ${id}`)
      const live = { id, account, name, version }
      return await instances.use(
        live,
        { cause: 'connection' },
        signal,
        (instance) => instance.isOpen && begun?.(instance),
      )
    },
    stop,
    async unblock(id) {
      const own = instances.running().filter((one) => one.id === id)
      await Promise.allSettled(own.map(async ({ instance }) => (await instance).unblock()))
    },
    close: () => instances.close(),
    async deploy(resource, signal, aside) {
      const { wanted, live, failure } = await versionsOf(state, resource.id)
      if (live !== wanted && failure === null) {
        aside()
        const version = { ...resource, version: wanted }
        await trials.run(
          resource.account,
          () => tryVersion({ ...deps, instances }, version, signal),
          signal,
        )
      }
      // Also where nothing was tried: an earlier try may have made it live without hearing so.
      return (await answerByLive(resource.id)) ? undefined : 'failed'
    },
    async remove(id) {
      // At once: the changes of others wait for it.
      await stop(id, 'suspended')
      starts.forget(id)
      await state.query('select remove_function($1)', [id])
    },
  }
}

/**
 * Starts a version beside the live version, and makes it live. Resolves with false for a version that cannot be loaded;
 * the reason is in its row.
 */
async function tryVersion(
  {
    state,
    instances,
  }: FunctionsDeps & { readonly instances: Instances<FunctionVersion, RunningFunction> },
  version: FunctionVersion,
  signal: AbortSignal,
): Promise<boolean> {
  const { id } = version
  try {
    const { instance, release } = await instances.use(version, { cause: 'change' }, signal)
    try {
      const { rows } = await state.query<{ before: number | null }>(
        'select make_function_live($1, $2, $3) as before',
        [id, version.version, instance.concurrency],
      )
      if ((rows[0]?.before ?? null) === null) throw new NotWanted(id)
    } finally {
      release()
    }
    return true
  } catch (error) {
    if (!(error instanceof ErgonError) || error.code !== 'function_failed') throw error
    await state.query('select fail_function($1, $2, $3)', [id, version.version, whyOf(error)])
    return false
  }
}

/** The code of starts that are admitted. */
function createStarts({ state, driver }: Pick<FunctionsDeps, 'state' | 'driver'>) {
  /** Functions whose last start was not admitted: nothing is read for the next one before it is. */
  const unpaid = new Set<string>()
  const admit = async (version: FunctionVersion) => {
    try {
      await driver.admit(version)
      unpaid.delete(version.id)
    } catch (error) {
      unpaid.add(version.id)
      throw error
    }
  }
  return {
    forget: (id: string) => void unpaid.delete(id),
    async read(version: FunctionVersion): Promise<CodeRow> {
      const admitted = admit(version)
      if (unpaid.has(version.id)) await admitted
      // Side by side, as each asks the state. A start that is not wanted gives back its hold after seconds. Sources have up
      // to 3 MB: on the connection of wakes a small read would wait behind them (50 of 1 MB took 0.6 to 0.9 s).
      const [code] = await Promise.all([readCode(state, version), admitted])
      return code
    },
  }
}

const whyOf = ({ message }: ErgonError): string => message.slice(message.indexOf(': ') + 2)

function specOf({ environmentKey }: FunctionsDeps, row: CodeRow): FunctionSpec {
  const { sealedEnv, memoryBytes, ...rest } = row
  const env = openVariables(sealedEnv, { kind: 'function', account: row.account, environmentKey })
  return { ...rest, memoryBytes: Number(memoryBytes), env }
}

const versionsOf = async (state: Queryable, id: string): Promise<VersionNumbers> =>
  foundOf(await readVersions(state, id), id)

async function readCode(state: Queryable, { id, version }: FunctionVersion): Promise<CodeRow> {
  const { rows } = await state.query<CodeRow>(
    `select n.id, n.account, n.name, v.version, v.runtime, v.file, v.source, v.memory_bytes::text as "memoryBytes",
       v.timeout_s as "timeoutS", v.sealed_env as "sealedEnv", v.concurrency
     from resources n join function_versions v on v.function = n.id and v.version = $2
     where n.id = $1`,
    [id, version],
  )
  return foundOf(rows[0], id)
}

function foundOf<T>(row: T | undefined, id: string): T {
  if (row === undefined) throw fault('function_not_found', `Could not find a version: ${id}`)
  return row
}
