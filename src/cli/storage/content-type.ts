// The Content-Type of an uploaded file: a browser shows an index.html as a page only with the right type.
import { basename } from 'node:path'
import mime from 'mime'
import { CommandError, EXIT } from '#cli/output.ts'

/** The type that the ending of a file's or key's name stands for, without a charset; undefined for none. */
export const contentTypeOf = (name: string): string | undefined =>
  // The name gets a folder before it: mime takes a bare 'html' for an ending.
  mime.getType(`./${basename(name)}`) ?? undefined

// RFC 9110 §8.3.1: type/subtype, then parameters; what a header cannot hold is refused here.
const FORM = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[\t ]*(;[\t\x20-\x7e]*)?$/

/** Checks the text of --content-type. Throws a CommandError. */
export function checkedContentType(text: string): string {
  if (FORM.test(text)) return text
  throw new CommandError(
    `Not a content type: ${JSON.stringify(text)}`,
    EXIT.usage,
    '--content-type "text/html; charset=utf-8"',
  )
}
