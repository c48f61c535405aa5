// All pages of /v1/usage, for commands that sum or print them.
import type { ReplyOf } from '#contract/reply-of.ts'
import type { usageList } from '#contract/service-replies.ts'
import { apiGet, replyOf } from './client.ts'
import type { GlobalOptions } from './profile.ts'

export type UsageList = ReplyOf<typeof usageList>

const PAGES_MAX = 1000

/** All pages as one list. */
export async function allUsage(options: GlobalOptions, query: string): Promise<UsageList> {
  const ask = async (words: string) =>
    replyOf<typeof usageList>(await apiGet(options, `/v1/usage?limit=1000&${words}`))
  const list = await ask(query)
  for (let pages = 1; list.next_cursor !== null && pages < PAGES_MAX; pages++) {
    const { data, has_more, next_cursor } = await ask(
      `cursor=${encodeURIComponent(list.next_cursor)}`,
    )
    list.data.push(...data)
    Object.assign(list, { has_more, next_cursor })
  }
  return list
}
