// ergon fn logs: the lines of a function.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { functionPath } from '#cli/functions.ts'
import { showLog } from '#cli/show-log.ts'
import type { functionLogs } from '#contract/functions/functions.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

export const run = ({ options, words: [name = ''] }: CommandCall): Promise<void> =>
  showLog(options, {
    name,
    count: 'limit',
    read: async (query) =>
      replyOf<typeof functionLogs>(await apiGet(options, `${functionPath(name)}/logs?${query}`)),
    textOf,
  })

const textOf = ({
  at,
  request_id: request,
  level,
  text,
}: ReplyOf<typeof functionLogs>['data'][number]): string =>
  `${at} ${level.padEnd(5)} ${request ?? '-'} ${text}`
