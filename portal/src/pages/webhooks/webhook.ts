// A webhook and a delivery as the API shows them, and their states in a word.
import type { ReplyOf } from '#console/client/operations.ts'
import type { Tone } from '#console/parts/page/state-word.tsx'

export type Webhook = ReplyOf<'GET /v1/webhooks/:webhook'>
export type Delivery = ReplyOf<'GET /v1/webhook-deliveries'>['data'][number]

type State = { readonly tone: Tone; readonly word: string }

export function stateOf({ status, failures, last_success_at }: Webhook): State {
  if (status === 'paused') return { tone: 'warn', word: 'Paused' }
  if (status === 'disabled') return { tone: 'bad', word: 'Disabled' }
  if (failures > 0) return { tone: 'bad', word: 'Does not arrive' }
  return last_success_at === null
    ? { tone: 'muted', word: 'Nothing sent yet' }
    : { tone: 'ok', word: 'Arrives' }
}

/** Nothing is sent to a webhook that is paused or disabled, until its resume. */
export function deliveryState(
  { status, attempts }: Pick<Delivery, 'status' | 'attempts'>,
  { status: ofWebhook }: Pick<Webhook, 'status'>,
): State {
  if (status === 'delivered') return { tone: 'ok', word: 'Delivered' }
  if (status === 'dead') return { tone: 'bad', word: 'Given up' }
  if (ofWebhook !== 'active') return { tone: 'warn', word: 'Waits for the resume' }
  return attempts === 0
    ? { tone: 'muted', word: 'Waits' }
    : { tone: 'warn', word: 'Is tried again' }
}

/** The name of a webhook: its words, or the host that it goes to. */
export const webhookName = ({ description, url }: Webhook): string =>
  description === '' ? new URL(url).host : description

/** Event types that can be asked for, by their subject; a test holds them to the contract. */
export const EVENT_GROUPS: readonly (readonly [subject: string, types: readonly string[]])[] = [
  ['Money', ['balance.low', 'balance.depleted']],
  ['Energy budgets', ['energy_budget.warning', 'energy_budget.exceeded']],
  ['Workloads', ['workload.deployed', 'workload.crashed', 'workload.scaled', 'workload.suspended']],
  ['Databases', ['database.failed', 'database.recovered', 'database.log_lost']],
  ['Objects and evidence', ['object.created', 'compliance.evidence_ready', 'receipt.published']],
  [
    'Account',
    [
      'account.suspended',
      'account.resumed',
      'account.deletion_requested',
      'account.restored',
      'token.exposed',
    ],
  ],
  ['The service', ['fleet.region_outage', 'webhook.disabled']],
]
