// The reason why a payment is neither canceled nor given back, in words: its state, and the end of an unused hold.
import { HOLD_ENDS_BEFORE_MS } from './end-holds.ts'
import type { TopupReply } from '#contract/payments/payments.ts'

export function stateWords({
  status,
  held_until: until,
}: Pick<TopupReply, 'status' | 'held_until'>): string {
  if (status !== 'authorized' || until === null) return `the payment is ${status}`
  const day = new Date(Date.parse(until) - HOLD_ENDS_BEFORE_MS).toISOString().slice(0, 10)
  return `it is a hold, which ends by itself on ${day} unless a cent of it is spent`
}
