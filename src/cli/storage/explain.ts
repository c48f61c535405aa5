// Messages for S3's error codes: text, next step, exit code.
import { unreachable } from '#cli/client.ts'
import { CommandError, EXIT } from '#cli/output.ts'
import { baseUrlOf, loginCommand, loginStep, type GlobalOptions } from '#cli/profile.ts'
import { messageOf } from '#base/errors.ts'

export type NextStep = { readonly next: string; readonly exitCode?: number }
type S3Refusal = Error & {
  readonly BucketName?: string
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string }
}

/** The calls that a command names. */
export type BucketCalls = {
  /** The one that it is about; '' for all. */
  readonly bucket: string
  /** The one that it writes to: where there is none, it can be made. */
  readonly target?: string
  /** `did you mean "photos"?` */
  readonly meant?: string | undefined
}

type AskedFor = BucketCalls & { readonly options: GlobalOptions }
const login = ({ options }: AskedFor): NextStep => ({
  next: loginStep(options),
  exitCode: EXIT.login,
})

/** Code → what to do; the bucket's name is put in. */
const STEPS: Readonly<Record<string, (asked: AskedFor) => NextStep>> = {
  NoSuchBucket: ({ bucket, target }) => ({
    next: bucket === target ? `ergon storage create ${bucket}` : 'ergon storage ls',
  }),
  NoSuchKey: ({ bucket }) => ({ next: `ergon storage ls --recursive s3://${bucket}` }),
  AccessDenied: ({ options }) => ({
    next: `writing takes a token of scope deploy, of a developer, admin or owner: ${loginCommand(options, 'deploy')}`,
  }),
  BucketAlreadyExists: () => ({ next: 'choose another name: it is taken' }),
  InvalidBucketName: () => ({
    next: 'three to 63 small letters, digits, dots and hyphens',
    exitCode: EXIT.usage,
  }),
  InsufficientStorage: () => ({ next: 'the disk of the service is full: ask its operator' }),
  InvalidAccessKeyId: login,
  SignatureDoesNotMatch: login,
  ExpiredToken: login,
}

const PAYMENT_REQUIRED = 402
const SERVICE_FAULT = 500

/** A CommandError for whatever a call threw. */
export function explained(
  error: unknown,
  options: GlobalOptions,
  buckets: BucketCalls,
): CommandError {
  if (error instanceof CommandError) return error
  const refused = error as S3Refusal
  if (refused.$metadata?.httpStatusCode === undefined) return unanswered(error, baseUrlOf(options))
  const { name, BucketName: bucket = buckets.bucket } = refused
  return commandErrorOf(refused, STEPS[name]?.({ ...buckets, bucket, options }), buckets.meant)
}

/** A CommandError for a refusal of the service, with a next step that the caller knows. */
export function commandErrorOf(
  error: S3Refusal,
  step: NextStep | undefined,
  meant?: string,
): CommandError {
  const { name, $metadata: { httpStatusCode = SERVICE_FAULT, requestId } = {} } = error
  const exitCode =
    httpStatusCode === PAYMENT_REQUIRED ? EXIT.payment : (step?.exitCode ?? EXIT.failed)
  const id = requestId === undefined || httpStatusCode < SERVICE_FAULT ? '' : `, ${requestId}`
  const hint = meant === undefined ? '' : `; ${meant}`
  const made = new CommandError(`${messageOf(error)} (${name}${id})${hint}`, exitCode, step?.next)
  made.requestId = requestId
  return made
}

const UNREACHED = /^(EPROTO|ECONN|ENOTFOUND|EAI_|EHOST|ENET|EPIPE|ETIMEDOUT)/

/** Nothing was answered: the network, or this machine's own files. */
function unanswered(error: unknown, service: string): CommandError {
  const { code = '', name } = error as { readonly code?: string; readonly name?: string }
  if (error instanceof Error && (UNREACHED.test(code) || name === 'TimeoutError'))
    return unreachable(service, error)
  return new CommandError(messageOf(error))
}
