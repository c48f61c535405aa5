// RFC 2047: S3 encodes metadata that is not ASCII.

const WORD = /=\?utf-8\?([bq])\?([^?\s]*)\?=(?:\s+(?==\?utf-8\?))?/gi
// An encoded word holds at most 75 characters: 45 bytes as base64, and its frame.
const WORD_BYTES_MAX = 45

/** Decodes the encoded words of UTF-8 in a text; others stay. */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text
  return text.replace(WORD, (all, kind: string, content: string) => {
    const bytes =
      kind.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : quotedPrintable(content)
    const decoded = bytes.toString('utf8')
    return decoded.includes('\ufffd') || decoded.includes('\0') ? all : decoded
  })
}

function quotedPrintable(content: string): Buffer {
  const bytes = content
    .replaceAll('_', ' ')
    .replace(/=([0-9a-fA-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return Buffer.from(bytes, 'latin1')
}

/** Encodes text for a header: printable ASCII as it is, other text as encoded words. */
export function encodeWords(text: string): string {
  if (/^[\t\u0020-\u007e]*$/.test(text)) return text
  const words: string[] = []
  let part = ''
  for (const character of text) {
    if (Buffer.byteLength(part + character) > WORD_BYTES_MAX) {
      words.push(part)
      part = ''
    }
    part += character
  }
  words.push(part)
  return words
    .map((word) => `=?UTF-8?B?${Buffer.from(word, 'utf8').toString('base64')}?=`)
    .join(' ')
}
