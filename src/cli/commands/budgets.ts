// ergon budgets: the energy budgets of the account.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { BudgetEntry, budgetList } from '#contract/ledger/budgets.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const data: BudgetEntry[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`
    const page: ReplyOf<typeof budgetList> = replyOf<typeof budgetList>(
      await apiGet(options, `/v1/budgets?limit=1000${after}`),
    )
    data.push(...page.data)
    cursor = page.next_cursor
  }
  if (options.json) return printJson({ object: 'list', data })
  const rows = data.map((one) => [
    one.id,
    one.kind,
    one.name,
    one.energy_budget,
    `${(BigInt(one.used_nj) * 100n) / BigInt(one.budget_nj)} %`,
    one.state,
  ])
  print(table(['OF', 'KIND', 'NAME', 'BUDGET', 'USED TODAY', 'STATE'], rows))
}
