// ergon logout: ends the token that `ergon login` stored, and forgets it.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, apiGet, replyOf } from '#cli/client.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'
import { baseUrlOf, dropCredentials, storedToken } from '#cli/profile.ts'
import { environment } from '#cli/environment.ts'
import type { tokenList } from '#contract/identity/tokens.ts'

export async function run({ options }: CommandCall): Promise<void> {
  if (environment().token !== undefined)
    throw new CommandError(
      'ERGON_TOKEN is set: it is no token of `ergon login`',
      EXIT.usage,
      'unset ERGON_TOKEN',
    )
  if (storedToken(baseUrlOf(options)) === undefined)
    throw new CommandError('No token of `ergon login` is stored here', EXIT.login)
  const why = await revoke(options)
  const file = dropCredentials()
  if (why !== undefined)
    throw new CommandError(`${file} is removed; the token itself was not revoked: ${why}`)
  tell(`The token is revoked; ${file} is removed`)
}

/** Resolves with why it could not be revoked; a token that is honoured no more has nothing left to end. */
async function revoke(options: CommandCall['options']): Promise<string | undefined> {
  try {
    const { data } = replyOf<typeof tokenList>(await apiGet(options, '/v1/tokens?limit=1000'))
    const own = data.find(({ current }) => current)
    if (own !== undefined) await apiDelete(options, `/v1/tokens/${own.id}`)
    return own === undefined ? 'it is not in the list of tokens' : undefined
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return error.exitCode === EXIT.login ? undefined : error.message
  }
}
