// ergon account error-rate: how many requests of the account the service failed, and its name on the status page.
import type { CommandCall } from '#cli/call.ts'
import type { errorRate } from '#contract/accounts/error-rate.ts'
import { apiGet, apiPut, replyOf } from '#cli/client.ts'
import { print, printJson } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const answer =
    options['newName'] === true
      ? await apiPut(options, '/v1/account/public-name')
      : await apiGet(options, '/v1/account/error-rate')
  const rate = replyOf<typeof errorRate>(answer)
  if (options.json) return printJson(rate)
  print(`public name  ${rate.public_name ?? 'none yet: it comes with the first requests'}`)
  print(`failed       ${rate.failures} of ${rate.requests} requests in ${rate.hours} hours`)
  print(`status page  ${rate.shown ? 'shown' : `not shown below ${rate.requests_least} requests`}`)
}
