// POST of a form with a file, as browsers send it. Credentials, policy and attributes are fields of the form.
import type { StorageSettings } from '#s3/settings.ts'
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import type { AttributesOf } from '#s3/objects/written-attributes.ts'
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { Objects } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import type { Clock } from '#base/clock.ts'
import type { SignatureVerifier } from '#s3/authentication/verify.ts'
import type { Callers } from '#s3/authentication/callers.ts'
import { Readable } from 'node:stream'
import { present } from '#base/errors.ts'
import type { Principal } from '#identity/principal.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { commitBody } from '#s3/body/commit-body.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { keptEncryption } from '#objects/encryption/encryption.ts'
import { postedHeaders, postedKey, readPostForm, withinLength, type PostForm } from './post-form.ts'
import { checkPostPolicy, parsePostPolicy, type LengthRange } from './post-policy.ts'
import { postReply } from './post-reply.ts'
import { parseFormSignature } from './post-signature.ts'
import type { Signing } from '#s3/authentication/credential.ts'
import { checkTextV2 } from '#s3/authentication/version-two.ts'
import { objectAddress, requestOrigin } from '#s3/website/origin.ts'
import { UPLOAD_BYTES_MAX } from '#s3/body/plan.ts'
import { checkRoom } from '#s3/read-only.ts'
import { marked, type Receiver } from '#s3/body/receive.ts'
import { requestChecksum } from '#s3/checksums/request.ts'
import { checksumHeaders, writtenVersionHeader } from '#s3/objects/version-headers.ts'

type PostDeps = {
  readonly access: Access
  readonly objects: Objects
  readonly receiver: Receiver
  readonly admitTransfer: AdmitTransfer
  readonly attributesOf: AttributesOf
  readonly encrypting: Encrypting
  readonly settings: StorageSettings
  readonly callers: Callers
  readonly verifier: SignatureVerifier
  readonly clock: Clock
}

const ANY_LENGTH: LengthRange = { min: 0, max: UPLOAD_BYTES_MAX }

/**
 * PostObject. Throws NoSuchBucket, AccessDenied (also from the policy), SignatureDoesNotMatch, InvalidPolicyDocument,
 * MalformedPOSTRequest, InvalidArgument, EntityTooSmall, EntityTooLarge.
 */
export const createPostObject =
  (deps: PostDeps): StorageHandler =>
  async (request) => {
    const { access, objects, receiver, admitTransfer, attributesOf, encrypting } = deps
    const bucket = await access.find(request)
    const { signal } = request
    const form = await readPostForm(request.body.headers, Readable.from(marked(request)), signal)
    try {
      const key = postedKey(form)
      const { trace, target } = request.body
      trace.target = { ...target, key }
      const { caller, signing, length } = await identify(deps, form, { bucket: bucket.name, key })
      if (caller !== undefined) {
        Object.assign(trace, { signing, account: caller.account })
        // The request had no credential in its head, so neither the account's limit nor the scope was checked.
        request.arrive(caller)
      }
      const posted = asPut(request, { form, key, caller })
      if (!access.allows(posted, bucket, { action: 's3:PutObject', key }))
        throw storageFault('AccessDenied')
      checkRoom(request.body.match.row, bucket)
      const attributes = await attributesOf(posted, bucket)
      const sealing = encrypting.wanted(posted, bucket)
      const bodyKey = encrypting.keyFor(sealing)
      await admitTransfer(posted, bucket, Math.min(length.max, declaredLength(request)))
      const taken = await receiver.take(withinLength(form.file.stream, length), {
        length: undefined,
        bodyKey,
        checksum: requestChecksum(posted.body.headers),
        request,
      })
      const { etag, size, checksums, body } = taken
      const object = {
        attributes: {
          ...attributes,
          etag,
          size,
          checksums,
          encryption: keptEncryption(sealing?.encryption),
        },
        body,
        event: 'ObjectCreated:Post',
      } as const
      const written = await commitBody(objects, body, () => objects.put(bucket, key, object))
      const location = objectAddress(request, key, requestOrigin(request, deps.settings))
      const reply = postReply(form.fields, { bucket: bucket.name, key, etag, location })
      const { 'content-type': contentType = 'application/xml', ...headers } = reply.headers
      return {
        kind: 'known',
        status: reply.status,
        contentType,
        headers: {
          ...headers,
          ...checksumHeaders(checksums),
          ...encryptionHeaders(sealing?.encryption),
          ...writtenVersionHeader(bucket, written.versionId),
        },
        body: () => reply.body,
      }
    } finally {
      form.file.stream.destroy()
    }
  }

/** The signer of the form, and the limits of its policy on the length. */
async function identify(
  { callers, verifier, clock }: { callers: Callers; verifier: SignatureVerifier; clock: Clock },
  form: PostForm,
  place: { bucket: string; key: string },
): Promise<{ caller: Principal | undefined; signing?: Signing; length: LengthRange }> {
  const signed = parseFormSignature(form.fields)
  if (signed === undefined) return { caller: undefined, length: ANY_LENGTH }
  const { credential, policy } = signed
  const { caller, secret } = await callers.ofSignature(credential, { method: 'POST', ...place })
  if (credential.kind === 'form-v2')
    checkTextV2([Buffer.from(policy)], credential.signature, secret)
  else verifier.verifyText(credential, secret, policy)
  const parsed = parsePostPolicy(policy)
  checkPostPolicy(parsed, { fields: form.fields, ...place }, clock.wallMs())
  const version = credential.kind === 'form-v2' ? 2 : 4
  return { caller, signing: { by: 'form', version }, length: parsed.length }
}

/** The form as a PUT of its key: fields as headers, and the signer as the caller. */
function asPut(
  request: StorageRequest,
  { form, key, caller }: { form: PostForm; key: string; caller: Principal | undefined },
): StorageRequest {
  const { headers, target } = request.body
  const { referer, 'user-agent': userAgent } = headers
  const asked = {
    ...postedHeaders(form.fields),
    ...(referer === undefined ? {} : { referer }),
    ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
  }
  return {
    ...request,
    caller,
    body: { ...request.body, headers: asked, target: { ...target, key } },
  }
}

const declaredLength = ({ body: { headers } }: StorageRequest): number =>
  Number(present(headers['content-length'] ?? String(UPLOAD_BYTES_MAX), 'there is a default'))
