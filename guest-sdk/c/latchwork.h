/* Latchwork plugins in C. README.md in this folder has examples and rules.
 *
 * Memory: an instance serves one call and is then discarded, so nothing has to be freed. Strings are
 * UTF-8 and end with a zero byte. Functions copy their arguments or use them before they return. */
#ifndef LATCHWORK_H
#define LATCHWORK_H

#include "bindings/latch.h"

#include "latchwork/text.h"

#include "latchwork/json.h"

#include "latchwork/answer.h"

#include "latchwork/world.h"

#include "latchwork/plugin.h"

#endif
