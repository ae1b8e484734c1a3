import { Header } from './parts/header.js'
import { Keys } from './parts/keys.js'
import { place } from './state/location.js'
import { ViewOf } from './views/views.js'

/** The whole page: what is the same on every view, and the view that the URL names. */
export function App() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <ViewOf view={place.value.view} />
      </main>
      <Keys />
    </>
  )
}
