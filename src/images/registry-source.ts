// Images of a registry. Source: OCI distribution-spec 1.1, "Pull".
import type { IncomingMessage } from 'node:http'
import { fault } from '#contract/errors.ts'
import type { Descriptor } from '#contract/workloads/images.ts'
import { IMAGE_DOCUMENT_BYTES_MAX, MEDIA_TYPES } from './manifest.ts'
import { imageText, type RegistryReference } from './reference.ts'
import {
  authorizationFor,
  follow,
  limited,
  registryUnreachable,
  type RegistryHeaders,
  type RegistryOptions,
} from './registry-requests.ts'
import type { ImageSource } from './source.ts'

/** Docker's registry answers at another address than its name. */
const DOCKER = { name: 'docker.io', host: 'registry-1.docker.io' }
const DOCUMENTS: readonly string[] = [...MEDIA_TYPES.index, ...MEDIA_TYPES.manifest]
const ACCEPT = DOCUMENTS.join(', ')

/** Opens a repository; nothing is asked before the first read. */
export function openRegistry(reference: RegistryReference, options: RegistryOptions): ImageSource {
  const { registry, repository } = reference
  const host = registry === DOCKER.name ? DOCKER.host : registry
  const isPlain = options.isPlain(registry)
  const base = `${isPlain ? 'http' : 'https'}://${host}/v2/${repository}`
  let authorization: string | undefined

  async function ask(
    path: string,
    headers: RegistryHeaders,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const url = new URL(`${base}${path}`)
    const send = () =>
      follow(options, url, { ...headers, ...(authorization && { authorization }) }, signal)
    let answer = await send()
    if (answer.statusCode === 401) {
      // Tokens of registries end within minutes: a later 401 asks for another one.
      answer.resume()
      const challenge = answer.headers['www-authenticate'] ?? ''
      authorization = await authorizationFor(challenge, { options, repository, isPlain }, signal)
      answer = authorization === undefined ? answer : await send()
    }
    const { statusCode: status = 0 } = answer
    if (status === 200 || status === 206) return answer
    answer.resume()
    throw refusal(reference, status, options)
  }

  return {
    isLocal: false,
    async root(signal) {
      const version = reference.digest ?? reference.tag
      const answer = await ask(`/manifests/${version}`, { accept: ACCEPT }, signal)
      return await limited(answer, IMAGE_DOCUMENT_BYTES_MAX)
    },
    async blob({ digest, mediaType }: Descriptor, from, signal) {
      const isDocument = DOCUMENTS.includes(mediaType)
      const answer = isDocument
        ? await ask(`/manifests/${digest}`, { accept: ACCEPT }, signal)
        : await ask(`/blobs/${digest}`, from > 0 ? { range: `bytes=${from}-` } : {}, signal)
      return { from: answer.statusCode === 206 ? from : 0, bytes: answer }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

function refusal(
  reference: RegistryReference,
  status: number,
  { credentials }: RegistryOptions,
): Error {
  const name = imageText(reference)
  if (status === 404) return fault('image_not_found', `Could not find the image ${name}`)
  if (status === 401 || status === 403)
    return fault(
      'image_denied',
      `Could not pull ${name}: the registry refuses (${status}): ${
        credentials === undefined
          ? `it has no such image, or wants a password: \`ergon registry login ${reference.registry}\``
          : 'the password that is kept for it may not pull this image'
      }`,
    )
  return registryUnreachable(`${reference.registry} answers ${status}`)
}
