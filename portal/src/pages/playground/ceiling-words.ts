// The most that an answer can cost, in words, before it is asked for. The playground streams: from the first word on its meter
// has what is left of this.
import type { ReplyOf } from '#console/client/operations.ts'
import { energyShort } from '#console/figures/energy.ts'
import { moneyShort, type MoneyUnit } from '#console/figures/money.ts'

export type Ceiling = ReplyOf<'POST /v1/chat/completions/ceiling'>

export function ceilingWords(ceiling: Ceiling | undefined, unit: MoneyUnit): string {
  if (ceiling === undefined) return 'The most that an answer can cost stands here before you send.'
  const { ceiling_nj, ceiling_pusd, model, stream_rest_nj: restNj } = ceiling
  const money = moneyShort(BigInt(ceiling_pusd), unit)
  const most = `An answer to this can cost at most ${energyShort(BigInt(ceiling_nj))} (${money}), by ${model}`
  if (restNj === undefined) return `${most}.`
  return `${most}; once its first word is there, at most ${energyShort(BigInt(restNj))} more.`
}
