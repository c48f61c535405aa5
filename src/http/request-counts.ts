// Counts, durations and costs of requests by operation and model, as a gateway shows them to Prometheus. Every request
// passes here, so a request makes no object. Labels are bounded: operations are rows of the contract, models those
// that were offered, up to a limit.
import { createAccountCounts, type AccountCounts } from './account-counts.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { OPERATIONS, type OperationName } from '#contract/operations.ts'

/** Upper ends of the classes of durations, in seconds; the last class has none. */
export const DURATIONS_S = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60] as const
const NAMES = Object.keys(OPERATIONS) as OperationName[]
/** 1xx to 5xx. */
const STATUSES = 5
/**
 * The service failed, or was not in time. 501 is a fixed answer to unserved operations: every caller can cause any
 * number of them.
 */
const isFailure = (status: number): boolean => status >= 500 && status !== 501
/** Models with a label of their own in the life of a gateway; later ones share a label. */
const MODELS_MAX = 100
const OTHER_MODEL = 'other'

export type OperationCounts = {
  readonly operation: OperationName
  /** By duration, as DURATIONS_S has them, and what took longer. */
  readonly durations: readonly number[]
  readonly totalS: number
}

/** The counts of one operation with one model; `model` is undefined where no model served the request. */
export type ModelCounts = {
  readonly operation: OperationName
  readonly model: string | undefined
  /** Requests by the first digit of the status, from 1xx on. */
  readonly statuses: readonly number[]
  /** The requests among them that the service failed. */
  readonly failures: number
  readonly energyNj: number
  readonly carbonPg: number
  readonly promptTokens: number
  readonly completionTokens: number
}

export interface RequestCounts {
  /** Counts an ended request and its charge; `account` is that of its caller, where that is no stranger. */
  add(
    operation: OperationName,
    charge: CountedCharge,
    durationMs: number,
    account?: string | undefined,
  ): void
  readonly accounts: AccountCounts
  /** Operations that were asked for at least once. */
  operations(): readonly OperationCounts[]
  models(): readonly ModelCounts[]
}
export type CountedCharge = Pick<
  Charge,
  | 'id'
  | 'operation'
  | 'model'
  | 'status'
  | 'energy_nj'
  | 'carbon_pg'
  | 'prompt_tokens'
  | 'completion_tokens'
>

type Row = { -readonly [Key in keyof Omit<ModelCounts, 'statuses'>]: ModelCounts[Key] } & {
  readonly statuses: number[]
}

const count = (figures: Float64Array, place: number, more: number): void =>
  void (figures[place] = (figures[place] ?? 0) + more)

export function createRequestCounts(): RequestCounts {
  const classes = DURATIONS_S.length + 1
  const index = new Map<string, number>(NAMES.map((name, place) => [name, place]))
  const durations = new Float64Array(NAMES.length * classes)
  const totalS = new Float64Array(NAMES.length)
  // Rows by model, then by the place of the operation.
  const rows = new Map<string | undefined, (Row | undefined)[]>()
  const shared = new Map<number, string>()
  const accounts = createAccountCounts()

  function rowOf(place: number, model: string | undefined): Row {
    const isNew = !rows.has(model)
    const name = isNew && rows.size >= MODELS_MAX ? OTHER_MODEL : model
    let ofModel = rows.get(name)
    if (ofModel === undefined) rows.set(name, (ofModel = []))
    return (ofModel[place] ??= emptyRow(NAMES[place] ?? 'service.nobody', name))
  }
  /** Requests of nobody share one charge each second: its energy counts once. */
  function isCounted({ id, operation, status }: CountedCharge): boolean {
    if (operation !== 'service.nobody') return false
    if (shared.get(status) === id) return true
    shared.set(status, id)
    return false
  }
  return {
    accounts,
    add(operation, charge, durationMs, account) {
      const { model, status, prompt_tokens: prompt, completion_tokens: completion } = charge
      const place = index.get(operation) ?? 0
      const seconds = durationMs / 1000
      let which = 0
      while (which < DURATIONS_S.length && seconds > (DURATIONS_S[which] ?? 0)) which++
      count(durations, place * classes + which, 1)
      count(totalS, place, seconds)
      const row = rowOf(place, model)
      const digit = Math.floor(status / 100) - 1
      row.statuses[digit] = (row.statuses[digit] ?? 0) + 1
      if (prompt !== undefined) row.promptTokens += Number(prompt)
      if (completion !== undefined) row.completionTokens += Number(completion)
      if (isFailure(status)) row.failures++
      if (account !== undefined) accounts.add(account, isFailure(status))
      if (isCounted(charge)) return
      // Refused before anybody was admitted, it is charged to the operation of nobody.
      const payer = rowOf(index.get(charge.operation) ?? place, model)
      payer.energyNj += Number(charge.energy_nj)
      payer.carbonPg += Number(charge.carbon_pg)
    },
    operations: () =>
      NAMES.map((operation, place) => ({
        operation,
        durations: [...durations.subarray(place * classes, (place + 1) * classes)],
        totalS: totalS[place] ?? 0,
      })).filter((one) => one.durations.some((count) => count > 0)),
    models: () => [...rows.values()].flat().filter((row) => row !== undefined),
  }
}

const emptyRow = (operation: OperationName, model: string | undefined): Row => ({
  operation,
  model,
  statuses: Array.from({ length: STATUSES }, () => 0),
  failures: 0,
  energyNj: 0,
  carbonPg: 0,
  promptTokens: 0,
  completionTokens: 0,
})
