// The lines after the last chunk of an aws-chunked body.
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Chain } from './chunk-signatures.ts'
import type { Framing } from './plan.ts'

const SIGNATURE = 'x-amz-trailer-signature'

/**
 * The trailers of a body by lower-case name: at most the announced one and its signature. Throws
 * MalformedTrailerError, IncompleteBody (cut short), SignatureDoesNotMatch.
 */
export function parseTrailers(
  text: string,
  framing: Framing,
  chain: Chain | undefined,
): ReadonlyMap<string, string> {
  // AWS's documentation ends trailer lines with
  // \r
  // , its SDKs with \r
  // .
  const regular = text.replaceAll(/(?<!\r)\n\r\n/g, '\r\n')
  if (regular !== '\r\n' && !regular.endsWith('\r\n\r\n')) throw storageFault('IncompleteBody')
  const trailers = new Map<string, string>()
  for (const line of regular.split('\r\n').filter((part) => part !== '')) {
    const found = /^([A-Za-z0-9-]+):[ \t]*([!-~]+)[ \t]*$/.exec(line)
    const name = found?.[1]?.toLowerCase() ?? ''
    const isExpected = name === framing.trailer || (name === SIGNATURE && framing.signedTrailer)
    if (!isExpected || trailers.has(name)) throw storageFault('MalformedTrailerError')
    trailers.set(name, found?.[2] ?? '')
  }
  if (framing.trailer !== undefined && !trailers.has(framing.trailer))
    throw storageFault('MalformedTrailerError')
  if (framing.signedTrailer && chain !== undefined) {
    const signature = trailers.get(SIGNATURE)
    if (signature === undefined) throw storageFault('MalformedTrailerError')
    trailers.delete(SIGNATURE)
    const canonical = [...trailers].map(([name, value]) => `${name}:${value}\n`).join('')
    chain.closeTrailers(canonical, signature)
  }
  return trailers
}
