// Settings: ways in, sign-ins, the account, its public name, and how this browser shows things.
import { Head } from '#console/shell/head.tsx'
import { Account } from './account.tsx'
import { Browser } from './browser.tsx'
import { EndOfAccount } from './end-of-account.tsx'
import { PublicName } from './public-name.tsx'
import { Passkeys } from './passkeys.tsx'
import { Recovery } from './recovery.tsx'
import { SignIns } from './sign-ins.tsx'
import './settings.css'

export const Page = () => (
  <>
    <Head title="Settings" />
    <div className="stack wide">
      <Passkeys />
      <Recovery />
      <SignIns />
      <Browser />
      <Account />
      <PublicName />
      <EndOfAccount />
    </div>
  </>
)
