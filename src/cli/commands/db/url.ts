// ergon db url: the connection string alone on stdout, for scripts.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { connectionOf } from '#cli/databases.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const address = await connectionOf(options, name, textOption(options, 'role'))
  const file = textOption(options, 'ca')
  const url = file === undefined ? address.url : checked(address.url, address.ca, resolve(file))
  if (options.json) return printJson({ ...address, url })
  print(url)
  if (address.certificate_sha256 !== null) tell(`certificate SHA-256 ${address.certificate_sha256}`)
}

/** The connection string by which a client checks the certificate, which is written to the file. */
function checked(address: string, ca: string | null, file: string): string {
  if (ca === null)
    throw new CommandError(
      'The certificate of the service is not self-signed',
      EXIT.failed,
      'leave --ca out, and connect with sslmode=verify-full and sslrootcert=system',
    )
  try {
    writeFileSync(file, ca)
  } catch (error) {
    throw new CommandError(
      `Could not write the certificate to ${file}: ${messageOf(error)}`,
      EXIT.failed,
      '--ca <file> in a folder that is there and that you may write to',
    )
  }
  const url = new URL(address)
  url.searchParams.set('sslmode', 'verify-full')
  url.searchParams.set('sslrootcert', file)
  // libpq reads a plus as a plus.
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}
