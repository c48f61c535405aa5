// ergon storage cp: files, folders and standard streams into buckets and out of them, and from one
// bucket to another.
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { checkedContentType } from '#cli/storage/content-type.ts'
import { copies } from '#cli/storage/copies.ts'
import { downloads, outputDownload } from '#cli/storage/download.ts'
import type { BucketCalls } from '#cli/storage/explain.ts'
import {
  placeText,
  parseTransferEnd,
  type ObjectPlace,
  type TransferEnd,
} from '#cli/storage/place.ts'
import { withSession, type TransferSession } from '#cli/storage/session.ts'
import { costText } from '#cli/storage/tally.ts'
import { runTransfers, type Transfer } from '#cli/storage/transfers.ts'
import { inputUpload, uploads } from '#cli/storage/upload.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({
  options,
  words: [source = '', target = ''],
}: CommandCall): Promise<void> {
  const from = parseTransferEnd(source)
  const to = parseTransferEnd(target)
  const contentType = contentTypeIn(options)
  const plan = { from, to, recursive: options['recursive'] === true, contentType }
  const done = await withSession(options, bucketsOf(from, to), async (session) => {
    const transfers = await transfersOf(session, plan)
    const bytes = await runTransfers(session, transfers)
    return { files: transfers.length, bytes, ...session.tally.cost() }
  })
  if (options.json) return report(to, () => printJson(done), JSON.stringify(done))
  const files = done.files === 1 ? '1 file' : `${done.files} files`
  tell(`copied ${files}, ${done.bytes} bytes, ${costText(done)}`)
}

function bucketsOf(from: TransferEnd, to: TransferEnd): BucketCalls {
  const target = to.kind === 'object' ? to.bucket : ''
  return { bucket: from.kind === 'object' ? from.bucket : target, target }
}

/** Where the object itself went to the standard output, the summary does not. */
function report(to: TransferEnd, printed: () => void, line: string): void {
  if (to.kind === 'standard') tell(line)
  else printed()
}

function contentTypeIn(options: CommandCall['options']): string | undefined {
  const text = options['contentType']
  return typeof text === 'string' ? checkedContentType(text) : undefined
}

type Plan = {
  readonly from: TransferEnd
  readonly to: TransferEnd
  readonly recursive: boolean
  readonly contentType: string | undefined
}

async function transfersOf(session: TransferSession, plan: Plan): Promise<Transfer[]> {
  const { from, to, recursive, contentType } = plan
  if (from.kind === 'object') {
    if (contentType !== undefined)
      throw new CommandError('--content-type is for uploads', EXIT.usage, 'cp <file> s3://…')
    if (!recursive) requireKey(from)
    if (to.kind === 'object') return await copies(session, { from, to, recursive })
    if (to.kind === 'file') return await downloads(session, { from, path: to.path, recursive })
    requireKey(from)
    return [outputDownload(session, from)]
  }
  if (to.kind !== 'object')
    throw new CommandError(
      'Neither is in a bucket',
      EXIT.usage,
      'ergon storage cp <file> s3://bucket/key',
    )
  return from.kind === 'standard'
    ? [inputUpload(session, { to, contentType })]
    : await uploads(session, { path: from.path, to, recursive, contentType })
}

function requireKey(from: ObjectPlace): void {
  if (from.key === '' || from.key.endsWith('/'))
    throw new CommandError(`A folder: ${placeText(from)}`, EXIT.usage, 'add --recursive')
}
