// CSV as the pack has it (RFC 4180): a record is compared as it stands.
import { PackError } from './files.mjs'

/** Records of a CSV file as they stand, and as values. */
export async function* recordsOf(files, name) {
  let text = ''
  for await (const piece of await files.read(name)) {
    text += piece.toString('latin1')
    let begin = 0
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n', end + 2)) {
      const raw = text.slice(begin, end)
      if ((raw.match(/"/g) ?? []).length % 2 === 1) continue
      yield Buffer.from(raw, 'latin1').toString('utf8')
      begin = end + 2
    }
    text = text.slice(begin)
  }
  if (text !== '') throw new PackError(name, 'its last line is cut')
}
export const valuesOf = (record) =>
  [...`,${record}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  )
function cellOf(value) {
  const plain = /^[=+@\t\r]|^-(?!\d+$)/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
export const recordOf = (values) => values.map(cellOf).join(',')
