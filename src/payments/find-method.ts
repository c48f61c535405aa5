// The cards of an account: a row, its query, its reply.
import type { MethodReply } from '#contract/payments/payments.ts'

export type MethodRow = {
  id: string
  processor: string
  label: string
  state: MethodReply['status']
  created_at: Date
}
export const METHODS_OF = `select id, processor, label, state, created_at from payment_methods where account = $1`

export const methodReplyOf = (row: MethodRow, action: MethodReply['action']): MethodReply => ({
  id: row.id,
  object: 'payment_method',
  type: 'card',
  processor: row.processor,
  label: row.label,
  status: row.state,
  action,
  created_at: row.created_at.toISOString(),
})
