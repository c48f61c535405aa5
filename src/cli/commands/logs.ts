// ergon logs: the lines of a workload.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { showLog } from '#cli/show-log.ts'
import { workloadPath } from '#cli/workloads.ts'
import type { workloadLogs } from '#contract/workloads/workload-replies.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

export const run = ({ options, words: [name = ''] }: CommandCall): Promise<void> =>
  showLog(options, {
    name,
    count: 'lines',
    read: async (query) =>
      replyOf<typeof workloadLogs>(await apiGet(options, `${workloadPath(name)}/logs?${query}`)),
    textOf,
  })

const textOf = ({
  at,
  version,
  instance,
  stream,
  text,
}: ReplyOf<typeof workloadLogs>['data'][number]): string =>
  `${at} v${version}.${instance} ${stream.padEnd(7)} ${text}`
