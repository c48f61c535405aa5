// ergon admin alarm list: the alarms that nobody has acknowledged, the newest first.
import { control } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const all = options['all'] === true
  const { alarms, more } = await control(options, 'alarm.list', { all })
  if (options.json) return printJson(alarms)
  if (alarms.length === 0) return tell('no alarms')
  print(
    table(
      ['ALARM', 'AT', 'KIND', 'ACKNOWLEDGED', 'FINDING', 'DETAIL'],
      alarms.map((one) => [
        one.id,
        one.at,
        one.kind,
        one.acknowledged_at ?? 'no',
        one.finding,
        JSON.stringify(one.detail),
      ]),
    ),
  )
  if (more) tell(`older ones are not shown: only the newest ${alarms.length} are`)
}
