// A player as it stands in the sources, for stores whose modules cannot be bundled.
import { register } from 'tsx/esm/api'

register()
await import('./player.ts')
