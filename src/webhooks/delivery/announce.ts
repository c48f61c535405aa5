// Charges and objects become events: what the state has not announced yet, account by account, each second while an
// endpoint asks for them.
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'

type AnnounceDeps = { readonly state: Queryable; readonly log: Logger }

const EVERY_MS = 1000
/** While no account asks for any. */
const REST_MS = 15_000
/** Pages of one account in a round. */
const PAGES_MAX = 20

type News = { account: string; has_receipts: boolean; has_objects: boolean }

/** Works until the signal aborts; `wake` ends a rest. Never rejects. */
export function createAnnouncer({ state, log }: AnnounceDeps) {
  let resting = new AbortController()
  return {
    wake: () => resting.abort(),
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        resting = new AbortController()
        const isAsked = await round(state, signal).catch((error: unknown) => {
          log.warn('Receipts and objects wait to be announced', { error: messageOf(error) })
          return true
        })
        const until = isAsked ? signal : AbortSignal.any([signal, resting.signal])
        await sleep(isAsked ? EVERY_MS : REST_MS, until).catch(() => undefined)
      }
    },
  }
}

/** True while an account asks for receipts or objects. */
async function round(state: Queryable, signal: AbortSignal): Promise<boolean> {
  const { rows } = await state.query<News>('select * from webhook_news()')
  for (const { account, has_receipts: hasReceipts, has_objects: hasObjects } of rows) {
    const page = async (sql: string) => await pages(state, sql, account, signal)
    if (hasReceipts) await page('select webhook_announce_receipts($1) as more')
    if (hasObjects) await page('select webhook_announce_objects($1) as more')
  }
  if (rows.length > 0) return true
  const feeds = await state.query('select from webhook_feeds limit 1')
  return feeds.rowCount > 0
}

async function pages(
  state: Queryable,
  sql: string,
  account: string,
  signal: AbortSignal,
): Promise<void> {
  for (let page = 0; page < PAGES_MAX && !signal.aborted; page++) {
    const { rows } = await state.query<{ more: boolean }>(sql, [account])
    if (rows[0]?.more !== true) return
  }
}
