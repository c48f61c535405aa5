// A round of the installation's own probe: each component that is due is asked as a user would ask it, and billed to the
// operator's account. A failure counts when the next try fails too.
import { sleep, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import { sum } from '#base/units.ts'
import type { ProbedComponent } from '#contract/status/probe-components.ts'
import { probeBucket } from '#contract/status/probe-names.ts'
import type { ProbeState } from '#contract/status/probe.ts'
import type { State } from '#state/connect.ts'
import { createApi, type ProbeAnswer } from './api.ts'
import { openProbeToken } from './probe-token.ts'
import { NotProbed, COMPONENT_PROBES, type ProbeContext } from './component-probes.ts'

export type ProbeSettings = {
  /** Between two probes of a component. */
  readonly everyS: number
  readonly api: { readonly host: string; readonly port: number }
}

const AGAIN_MS = 3000
const REASON_CHARACTERS_MAX = 300

/** Sends the due requests, one after another; a node without an account has no caller for them. */
export function createProbe(deps: {
  readonly state: State
  readonly clock: Clock
  readonly settings: ProbeSettings
}): (signal: AbortSignal) => Promise<void> {
  const { state, clock, settings } = deps
  let opened: Omit<ProbeContext, 'signal'> | undefined
  const open = async () => {
    const token = await openProbeToken(state)
    if (token === undefined) return undefined
    const { account, text } = token
    const bucket = probeBucket(account)
    return { api: createApi(settings.api, text), state, account, bucket }
  }
  return async (signal) => {
    const { rows } = await state.query<{ id: string }>('select probed_lately($1) as id', [
      settings.everyS,
    ])
    const fresh = new Set(rows.map(({ id }) => id))
    for (const id of Object.keys(COMPONENT_PROBES) as ProbedComponent[]) {
      if (fresh.has(id)) continue
      opened ??= await open()
      if (opened === undefined) return
      const result = await probed(id, { ...opened, signal }, clock)
      signal.throwIfAborted()
      if (result.isStranger) opened = undefined
      await state.query('select add_probe($1)', [JSON.stringify({ component: id, ...result.row })])
    }
  }
}

type Row = { readonly state: ProbeState; readonly reason?: string } & Readonly<
  Record<string, unknown>
>

/** The result of one component. */
export async function probed(
  id: ProbedComponent,
  by: ProbeContext,
  clock: Pick<Clock, 'monotonicMs'>,
  againMs = AGAIN_MS,
): Promise<{ readonly row: Row; readonly isStranger: boolean }> {
  const attempt = async () => {
    const begunMs = clock.monotonicMs()
    const answers = await COMPONENT_PROBES[id](by)
    return figuresOf(answers, clock.monotonicMs() - begunMs)
  }
  try {
    const row = await attempt().catch(async (error: unknown) => {
      if (error instanceof NotProbed || by.signal.aborted) throw error
      await sleep(againMs, by.signal)
      return await attempt()
    })
    return { row, isStranger: false }
  } catch (error) {
    const reason = messageOf(error).slice(0, REASON_CHARACTERS_MAX)
    const state = error instanceof NotProbed ? 'not_probed' : 'failed'
    // Somebody revoked the token: the next round asks with another one.
    return { row: { state, reason }, isStranger: state === 'not_probed' && / 401 /.test(reason) }
  }
}

function figuresOf(answers: readonly ProbeAnswer[], durationMs: number): Row {
  const first = answers[0]
  return {
    state: 'ok',
    duration_ms: Math.round(durationMs),
    energy_nj: String(sum(answers.map(({ energyNj }) => energyNj))),
    carbon_pg: String(sum(answers.map(({ carbonPg }) => carbonPg))),
    method: first?.method,
    band_pct: Math.max(...answers.map(({ bandPct }) => bandPct)),
    routed_to: first?.routedTo,
    receipt: first?.receipt,
    receipts: answers.map(({ receipt, energyNj }) => ({
      id: receipt,
      energy_nj: String(energyNj),
    })),
  }
}
