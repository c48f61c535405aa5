// The models of a node: keeps the table `models`, starts a cell for each model served here, and writes each cell's
// state into the table. Models that an operator added or removed stay so over restarts.
import { dirname } from 'node:path'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Cell, Cells, CellSpec } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import { STUCK_PAGE } from '#inference/cell-calls.ts'
import { EXIT_MISFIT, type Gpu, type ModelConfig } from '#inference/engine/model-config.ts'
import { answers, ask, programCell, stuckAt, type ProgramPlace } from '#node/cell-specs.ts'
import type { State } from '#state/connect.ts'
import type { StoredOffer, StoredProvider } from './follow-models.ts'
import { MODEL_CELLS } from '#node/cell-names.ts'
import { modelFile, type ModelFolders, type ModelSource } from './files.ts'
import type { Program } from '#node/program-flags.ts'
import type { Progress } from '#node/report.ts'
import { ModelStates } from './states.ts'

export const MODEL_PROGRAM: Program = { file: 'inference/programs/model.ts', flags: [] }
export const MODEL_SOCKETS = 'models'
const READY_TIMEOUT_MS = 120_000
const WATCH_MS = 1_000
/**
 * The thread that answers reads requests and writes answers; the longest of that is a prompt of 500,000 characters,
 * 0.8 s alone and 5 s where ten processes share its core.
 */
const SILENT_MS = 20_000
const ENDS_MAX = 2
const LOOK_MS = 100
const MODEL_ENDED = 'model_ended'
/** The file contradicts its declared form. */
const MISFIT = 'invalid_request'

export type FleetDeps = {
  readonly cells: Cells
  readonly state: State
  readonly log: Logger
  readonly folders: ModelFolders
  readonly place: ProgramPlace
  readonly routedTo: string
  /** The cells' use of a GPU; absent: none. */
  readonly gpu?: Gpu
  readonly environment: Readonly<Record<string, string>>
  readonly progress: (model: string, progress: Progress) => void
}

export type EngineSettings = Omit<ModelConfig, 'id' | 'file'>
export type NewModel = {
  readonly id: string
  readonly offer: Omit<StoredOffer, 'id' | 'provider' | 'upstreamId' | 'routedTo' | 'createdS'>
} & (
  | { readonly source: ModelSource; readonly engine: EngineSettings }
  | {
      readonly upstream: Omit<Extract<StoredProvider, { base_url: string }>, 'name'>
      readonly upstreamId: string
      readonly routedTo: string
    }
)
type Row = { id: string; source: ModelSource | null; engine: EngineSettings | null }

export class ModelFleet {
  readonly #deps: FleetDeps
  readonly #states: ModelStates
  readonly #starting = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(deps: FleetDeps) {
    this.#deps = deps
    this.#states = new ModelStates(deps)
    deps.cells.onChange((cell) => this.#follow(cell))
  }

  /** Gives up what is being fetched or started. Cells that run are left to their owner. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#states.close()
    await Promise.allSettled(this.#starting)
  }

  /** Brings the default models of the table to these, loading. */
  async declare(defaults: readonly NewModel[]): Promise<void> {
    await this.#deps.state.query(
      'delete from models where is_default and state <> $1 and not (id = any ($2))',
      ['removed', defaults.map((model) => model.id)],
    )
    for (const [position, model] of defaults.entries())
      await this.#declare(model, { position, isDefault: true })
  }

  /** Starts every model of the table; resolves with the failures in words. */
  async start(): Promise<string[]> {
    const { rows } = await this.#deps.state.query<Row>(
      "select id, source, engine from models where state <> 'removed' order by position, id",
    )
    const failures = await Promise.all(
      rows.map(async (row) => [row.id, await this.#startRow(row)] as const),
    )
    return failures.flatMap(([id, failure]) =>
      failure === undefined ? [] : `model ${id}: ${messageOf(failure)}`,
    )
  }

  /**
   * Declares a model and starts it; resolves when it answers. Throws invalid_request for a taken name, or
   * what its file contradicts.
   */
  async add(model: NewModel): Promise<void> {
    const { rows } = await this.#deps.state.query<Row>(
      "select id, source, engine from models where id = $1 and state <> 'removed'",
      [model.id],
    )
    if (rows.length > 0)
      throw fault('invalid_request', `Could not add the model: "${model.id}" is served already`)
    await this.#declare(model, { position: 100, isDefault: false })
    const engine = 'engine' in model ? model.engine : null
    const source = 'source' in model ? model.source : null
    const failure = await this.#startRow({ id: model.id, source, engine })
    if (failure === undefined) return
    await this.remove(model.id)
    if (failure instanceof ErgonError && failure.code === MISFIT) throw failure
    const why = `model ${model.id}: ${messageOf(failure)}`
    throw fault('model_not_available', `Could not add the model: ${why}`)
  }

  /** The file's own facts go into the offer: the operator who added it need not have declared them. */
  async #learnCard(id: string, { socket }: Cell): Promise<void> {
    const list = (await ask(socket, '/v1/models', this.#closing.signal)) as CardList | null
    const { context_length: context, dimensions: embeddingDimensions, gpu } = list?.data?.[0] ?? {}
    const found = Object.entries({ context, embeddingDimensions }).filter(([, value]) =>
      isCount(value),
    )
    await this.#deps.state.query('update models set offer = offer || $2 where id = $1', [
      id,
      JSON.stringify({ ...Object.fromEntries(found), ...this.#siliconOf(gpu) }),
    ])
    await this.#states.announce()
  }

  /** The engine chose it at its start: the setting may leave the choice open. */
  #siliconOf(gpu: unknown): Pick<StoredOffer, 'routedTo'> & { readonly usesGpu: boolean } {
    const { routedTo } = this.#deps
    const usesGpu = typeof gpu === 'string' && GPU_NAME.test(gpu)
    return { usesGpu, routedTo: usesGpu ? routedTo.replace(/[^/]+$/, `gpu-${gpu}`) : routedTo }
  }

  #cellOf(id: string): Cell | undefined {
    return this.#deps.cells.list().find((cell) => cell.spec.name === `${MODEL_CELLS}${id}`)
  }

  async remove(id: string): Promise<void> {
    const { state } = this.#deps
    const { rowCount } = await state.query(
      "update models set state = 'removed', reason = null, updated_at = now() where id = $1 and state <> 'removed'",
      [id],
    )
    if (rowCount === 0)
      throw fault('model_not_found', `Could not remove the model: "${id}" is not served`)
    await this.#states.announce()
    await this.#cellOf(id)?.stop()
    await state.query("delete from models where id = $1 and not is_default and state = 'removed'", [
      id,
    ])
  }

  #startRow(row: Row): Promise<unknown> {
    const started = this.#tryRow(row).finally(() => this.#starting.delete(started))
    this.#starting.add(started)
    return started
  }

  /** Starts the model of a row. Resolves with the error of a failed start, or with undefined. */
  async #tryRow({ id, source, engine }: Row): Promise<unknown> {
    const { signal } = this.#closing
    try {
      if (source === null || engine === null) await this.#states.set(id, { state: 'ready' })
      else await this.#serve(id, source, engine)
      return undefined
    } catch (error) {
      // Not the model's failure: the next start goes on where this one was stopped.
      if (signal.aborted) return undefined
      const reason = messageOf(error)
      this.#deps.log.error('A model could not be started', { model: id, error: reason })
      await this.#states.set(id, { state: 'failed', reason })
      return error
    }
  }

  async #serve(id: string, source: ModelSource, engine: EngineSettings): Promise<void> {
    try {
      await this.#startCell(id, await this.#fileOf(id, source, false), engine)
    } catch (error) {
      if (!(error instanceof ErgonError && error.code === MODEL_ENDED) || 'path' in source)
        throw error
      // Its files have the right sizes, as each start asks; now also their hashes are asked.
      this.#deps.log.warn('The files of a model are checked', { model: id, cause: error.message })
      await this.#startCell(id, await this.#fileOf(id, source, true), engine)
    }
  }

  #fileOf(id: string, source: ModelSource, verify: boolean): Promise<string> {
    const { folders, environment, progress } = this.#deps
    return modelFile(source, {
      folders,
      environment,
      progress: (done) => progress(id, done),
      verify,
      signal: this.#closing.signal,
    })
  }

  async #startCell(id: string, file: string, engine: EngineSettings): Promise<void> {
    const { signal } = this.#closing
    signal.throwIfAborted()
    const cell = await this.#deps.cells.start(this.#cell(id, file, engine))
    await this.#states.set(id, { state: 'loading', socket: cell.socket })
    await untilAnswering(cell, signal)
    await this.#learnCard(id, cell)
  }

  #cell(id: string, file: string, engine: EngineSettings): CellSpec {
    const { gpu } = this.#deps
    const model: ModelConfig = { id, file, ...engine, ...(gpu === undefined ? {} : { gpu }) }
    return programCell(MODEL_PROGRAM, {
      name: `${MODEL_CELLS}${id}`,
      place: this.#deps.place,
      config: { model },
      socketGroup: MODEL_SOCKETS,
      reads: [dirname(file)],
      // It parses files of strangers, and is asked over its socket alone.
      network: 'none',
      ready: { probe: answers('/healthz'), timeoutMs: READY_TIMEOUT_MS },
      watch: { look: stuckAt(STUCK_PAGE), everyMs: WATCH_MS, silentMs: SILENT_MS },
      payer: { kind: 'caller' },
      ...(gpu === undefined ? {} : { usesGpu: true }),
    })
  }

  async #declare(model: NewModel, place: { position: number; isDefault: boolean }): Promise<void> {
    const name = `${MODEL_CELLS}${model.id}`
    const isUpstream = 'upstream' in model
    const offer: StoredOffer = {
      ...model.offer,
      id: model.id,
      provider: name,
      upstreamId: isUpstream ? model.upstreamId : model.id,
      routedTo: isUpstream ? model.routedTo : this.#deps.routedTo,
      createdS: Math.floor(Date.now() / 1000),
    }
    const provider: StoredProvider = isUpstream ? { name, ...model.upstream } : { name, socket: '' }
    await this.#deps.state.query(
      `insert into models (id, offer, provider, source, engine, state, is_default, position)
       values ($1, $2, $3, $4, $5, 'loading', $6, $7)
       on conflict (id) do update set
         offer = excluded.offer || jsonb_build_object('createdS', models.offer -> 'createdS'),
         provider = excluded.provider, source = excluded.source, engine = excluded.engine,
         is_default = excluded.is_default, position = excluded.position, reason = null, updated_at = now(),
         state = case when models.state = 'removed' and models.is_default and excluded.is_default
           then 'removed' else 'loading' end`,
      [
        model.id,
        JSON.stringify(offer),
        JSON.stringify(provider),
        isUpstream ? null : JSON.stringify(model.source),
        isUpstream ? null : JSON.stringify(model.engine),
        place.isDefault,
        place.position,
      ],
    )
  }

  /** A model cell came up or went away. */
  #follow(cell: Cell): void {
    const { name } = cell.spec
    if (!name.startsWith(MODEL_CELLS) || cell.state === 'stopping' || cell.state === 'stopped')
      return
    const state = cell.state === 'ready' ? 'ready' : 'loading'
    const model = name.slice(MODEL_CELLS.length)
    const stuck = cell.state === 'waiting' ? cell.exits.at(-1)?.stuck : undefined
    const reason = stuck === undefined ? {} : { reason: `it was stuck: ${stuck}` }
    void this.#states.set(model, { state, socket: cell.socket, ...reason })
    if (stuck !== undefined) void this.#states.alarm('model_stuck', { model, reason: stuck })
  }
}

/** The engine's card; its process reads foreign text, so each figure is checked. */
type CardList = {
  readonly data?: readonly {
    readonly context_length?: unknown
    readonly dimensions?: unknown
    readonly gpu?: unknown
  }[]
}

const GPU_NAME = /^[a-z]{2,10}$/

const isCount = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0

/**
 * Resolves when it answers. Stops it and throws `model_ended` when it ends again and again instead, invalid_request
 * when its file contradicts its declared form.
 */
async function untilAnswering(cell: Cell, signal: AbortSignal): Promise<void> {
  const hopeless = new AbortController()
  const limit = AbortSignal.timeout(READY_TIMEOUT_MS)
  const look = setInterval(() => {
    // Exits that the cell chose: a killed cell says nothing about its files.
    const ends = cell.exits.filter(({ code }) => code !== null)
    const code = ends.at(-1)?.code ?? null
    if (code === EXIT_MISFIT) hopeless.abort(fault(MISFIT, cell.lastError ?? 'It does not fit'))
    else if (ends.length >= ENDS_MAX) hopeless.abort(ended(code, cell))
  }, LOOK_MS)
  try {
    await cell.ready(AbortSignal.any([signal, limit, hopeless.signal]))
  } catch (error) {
    if (hopeless.signal.aborted) await cell.stop()
    throw error
  } finally {
    clearInterval(look)
  }
}

const ended = (code: number | null, { lastError = 'it said nothing' }: Cell) =>
  new ErgonError(
    { code: MODEL_ENDED, status: 503 },
    `Its process ended ${ENDS_MAX} times before it answered, last with code ${code}: ${lastError}`,
  )
