/* Write Latchwork plugins in C. README.md beside this file has the whole story.
 *
 * Memory: an instance serves one call and is thrown away, so nothing has to be freed. Strings are
 * UTF-8 and end with a zero byte; whatever is given to a function is copied or used at once. */
#ifndef LATCHWORK_H
#define LATCHWORK_H

#include "bindings/latch.h"

#include "latchwork/text.h"

#include "latchwork/json.h"

#include "latchwork/answer.h"

#include "latchwork/world.h"

#include "latchwork/plugin.h"

#endif
