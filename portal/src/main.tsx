// The console starts: theme before the first paint, then the page, which is the sign-up for one who left it to pay.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { followOtherTabs } from './client/entered.ts'
import { queryClient } from './client/queries.ts'
import { applyTheme } from './parts/browser/settings.ts'
import { createConsoleRouter } from './shell/router.tsx'
import { pathNow } from './sign-up/progress.ts'

applyTheme()
followOtherTabs()
const path = pathNow(location.pathname, sessionStorage)
if (path !== location.pathname) history.replaceState(null, '', path)
const root = document.querySelector('#root')
if (root === null) throw new TypeError('The page has no #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={createConsoleRouter()} />
    </QueryClientProvider>
  </StrictMode>,
)
