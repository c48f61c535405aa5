// The column `state` of the table `models`: what the cell of a model does, for every gateway to read. A
// change that the state's server does not take is written again until it does: a model whose "ready" was
// lost would be "loading" for ever.
import type { AlarmKind } from '#contract/node/alarms.ts'
import { raiseAlarm } from '#state/alarms.ts'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { State } from '#state/connect.ts'

export type ModelChange = {
  readonly state: 'ready' | 'loading' | 'failed'
  /** Where its cell listens; unchanged when absent. */
  readonly socket?: string
  readonly reason?: string
}

const RETRY_MS = 500

export class ModelStates {
  readonly #deps: { readonly state: State; readonly log: Logger }
  readonly #latest = new Map<string, ModelChange>()
  readonly #closing = new AbortController()

  constructor(deps: { readonly state: State; readonly log: Logger }) {
    this.#deps = deps
  }

  /** Resolves when it is written, or when a later change of that model has taken its place. */
  async set(id: string, change: ModelChange): Promise<void> {
    const isLatest = () => this.#latest.get(id) === change && !this.#closing.signal.aborted
    this.#latest.set(id, change)
    while (isLatest()) {
      try {
        await this.#write(id, change)
        return await this.announce()
      } catch (error) {
        this.#deps.log.warn('The state of a model could not be written', {
          model: id,
          error: messageOf(error),
        })
      }
      await sleep(RETRY_MS, this.#closing.signal).catch(() => undefined)
    }
  }

  /** For the operator, and kept; written again until the state takes it. */
  async alarm(kind: AlarmKind, detail: Readonly<Record<string, string>>): Promise<void> {
    const { state, log } = this.#deps
    while (!this.#closing.signal.aborted) {
      try {
        await raiseAlarm(state, kind, detail)
        return
      } catch (error) {
        log.warn('An alarm could not be written', { kind, ...detail, error: messageOf(error) })
      }
      await sleep(RETRY_MS, this.#closing.signal).catch(() => undefined)
    }
  }

  /** Tells the gateways to read the table again. */
  async announce(): Promise<void> {
    await this.#deps.state.query("select pg_notify('ergon_models', '')")
  }

  close(): void {
    this.#closing.abort()
  }

  async #write(id: string, { state, reason, socket }: ModelChange): Promise<void> {
    await this.#deps.state.query(
      `update models set state = $2, reason = $3, updated_at = now(),
         provider = case when $4::text is null then provider
           else jsonb_set(provider, '{socket}', to_jsonb($4::text)) end
       where id = $1 and state <> 'removed'`,
      [id, state, reason ?? null, socket ?? null],
    )
  }
}
