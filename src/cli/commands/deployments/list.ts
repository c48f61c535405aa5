// ergon deployments list.
import type { deploymentList } from '#contract/deployments/deployments.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const stack = textOption(options, 'stack')
  const query = new URLSearchParams({
    limit: textOption(options, 'limit') ?? '20',
    ...(stack !== undefined && { stack }),
  })
  const list = replyOf<typeof deploymentList>(await apiGet(options, `/v1/deployments?${query}`))
  if (options.json) return printJson(list)
  if (list.data.length === 0)
    return tell('There are no deployments yet: ergon deploy, in a folder with ergon.hcl')
  const rows = list.data.map(({ id, stack: of, status, changes, created_at: at }) => [
    id,
    of,
    status,
    String(changes),
    at,
  ])
  print(table(['ID', 'STACK', 'STATUS', 'CHANGES', 'CREATED'], rows))
}
