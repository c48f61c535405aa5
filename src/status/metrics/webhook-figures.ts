// Figures of the deliveries of webhooks from the state, for each scrape.
import { present } from '#base/errors.ts'
import type { State } from '#state/connect.ts'

export type WebhookFigures = {
  /** Due and not sent. */
  readonly waiting: number
  /** Since the oldest of them was due; 0 without one. */
  readonly ageS: number
}

/** A scrape reads no more entries than these: some 20 ms of the state. */
const COUNTED_MAX = 100_000

export async function webhookFigures(state: Pick<State, 'query'>): Promise<WebhookFigures> {
  const { rows } = await state.query<{ waiting: string; age_s: number }>(
    'select waiting, age_s from webhook_backlog($1)',
    [COUNTED_MAX],
  )
  const { waiting, age_s: ageS } = present(rows[0], 'a row of sums')
  return { waiting: Number(waiting), ageS }
}
