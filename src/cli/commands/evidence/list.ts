// ergon evidence list: the packs of the account.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { stateOf, type PackEntry } from '#cli/evidence.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { packList } from '#contract/compliance/compliance.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const packs: PackEntry[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== undefined && { cursor }) })
    const page: ReplyOf<typeof packList> = replyOf<typeof packList>(
      await apiGet(options, `/v1/compliance/packs?${query.toString()}`),
    )
    packs.push(...page.data)
    cursor = page.next_cursor
  }
  if (options.json) return printJson(packs)
  print(
    table(
      ['ID', 'FROM', 'TO', 'STATE', 'MB', 'UNTIL'],
      packs.map((pack) => [
        pack.id,
        pack.from,
        pack.to,
        stateOf(pack),
        pack.size_bytes === null ? '-' : (pack.size_bytes / 1e6).toFixed(2),
        pack.expires_at?.slice(0, 10) ?? '-',
      ]),
    ),
  )
}
