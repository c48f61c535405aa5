// Encrypts short texts whole. The key of each text is derived from a root key, a random salt and the text's name, so
// one wrapped root serves all texts of a version.
import { hkdfSync, randomBytes } from 'node:crypto'
import { openFrames, sealFrames } from './frames.ts'

const KEY_BYTES = 32
const SALT_BYTES = 16

const keyOf = (root: Buffer, salt: Buffer, name: string): Buffer =>
  Buffer.from(hkdfSync('sha256', root, salt, name, KEY_BYTES))

/** Encrypts a text with a new salt; `name` has at most 1024 bytes. */
export async function sealText(root: Buffer, name: string, text: Buffer) {
  const salt = randomBytes(SALT_BYTES)
  const chunks: Buffer[] = []
  for await (const chunk of sealFrames(keyOf(root, salt, name), one(text))) chunks.push(chunk)
  return { salt, sealed: Buffer.concat(chunks) }
}

/** Decrypts a text. Throws `blob_damaged` when the text was not sealed under this name. */
export async function openText(
  root: Buffer,
  name: string,
  { salt, sealed, size }: { salt: Buffer; sealed: Buffer; size: number },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  const place = { range: { first: 0, last: size - 1 }, size }
  for await (const chunk of openFrames(keyOf(root, salt, name), one(sealed), place))
    chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
