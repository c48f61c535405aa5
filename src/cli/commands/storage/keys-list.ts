// ergon storage keys list.
import { control } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const keys = await control(options, 'storage-key.list', {})
  if (options.json) return printJson(keys)
  print(
    table(
      ['KEY', 'VERSION', 'OBJECTS', 'ROTATED'],
      keys.map(({ name, version, wrapped_by: wrapped, rotated_at: rotated }) => [
        name,
        String(version),
        wrapped < version ? `from version ${wrapped}` : 'current',
        rotated ?? 'never',
      ]),
    ),
  )
}
