// ergon artifacts list: the files that arrive as packages.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const artifacts = await control(options, 'artifact.list', {})
  if (options.json) return printJson(artifacts)
  print(
    table(
      ['NAME', 'HERE', 'MiB', 'PACKAGE', 'USE'],
      artifacts.map((one) => [
        one.name,
        one.present ? 'yes' : 'no',
        (one.sizeBytes / 1_048_576).toFixed(0),
        one.package,
        one.use,
      ]),
    ),
  )
}
