// ergon storage presign: an address for one object that the service signs, alone on stdout.
import { apiPost, replyOf } from '#cli/client.ts'
import { durationMs } from '#cli/duration.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import { EXPIRES_MAX_S } from '#contract/storage/presign.ts'
import { objectPlaceOf } from '#cli/storage/place.ts'
import type { CommandCall } from '#cli/call.ts'
import type { presignReply } from '#contract/storage/presign.ts'

const METHODS = ['GET', 'PUT']

export async function run({ options, words: [address = ''] }: CommandCall): Promise<void> {
  const { bucket, key } = objectPlaceOf(address)
  if (key === '')
    throw new CommandError(`A bucket, not a key: ${address}`, EXIT.usage, 's3://bucket/key')
  const method = String(options['method'] ?? 'get').toUpperCase()
  if (!METHODS.includes(method))
    throw new CommandError('--method is get or put', EXIT.usage, '--method get')
  const expires = String(options['expires'] ?? '1h')
  const expires_s = durationMs(expires, '--expires 1h') / 1000
  if (expires_s > EXPIRES_MAX_S)
    throw new CommandError(`--expires is at most 7d: "${expires}"`, EXIT.usage, '--expires 7d')
  const body = { bucket, key, method, expires_s }
  const made = replyOf<typeof presignReply>(await apiPost(options, '/v1/storage/presigned', body))
  if (options.json) return printJson(made)
  tell(`${method} until ${made.expires_at}, or until the token is revoked:`)
  print(made.url)
}
