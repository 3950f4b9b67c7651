;; Adapter between the system interface of Go's runtime (WASI preview 1) and the host. Time and randomness
;; are injected in a step and real in a tool. Printed lines become log records. No other system function
;; does anything. The adapter also provides the component's exports, for two reasons. It flushes the last
;; line when an export returns. It also tracks when the host writes into memory, because no import may be
;; called during that time.
;;
;; A line that ends in `;; step` or `;; tool` is only in the module for that kind. A test generates the two
;; modules beside this file (`LATCH_BLESS=1`) and checks that they are current.
;;
;; Memory belongs to Go. Its linker leaves everything below 12,288 free. Addresses in use:
;;   4,096   the unfinished line of standard output
;;   8,192   the unfinished line of standard error
;;   12,224  space for one answer of the host
(module
  (import "env" "memory" (memory 0))
  (import "__main_module__" "latch_realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
  (import "__main_module__" "latch_describe" (func $describe (result i32)))
  (import "__main_module__" "latch_run" (func $run (param i32 i32 i32 i32) (result i32)))
  (import "__main_module__" "latch_invoke" (func $invoke (param i32 i32 i32 i32) (result i32)))
  (import "__main_module__" "latch_reconcile" (func $reconcile (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "__main_module__" "latch_verify" (func $verify (param i32) (result i32)))
  (import "__main_module__" "latch_compensate" (func $compensate (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "latchwork:plugin/log@0.1.0" "write" (func $log (param i32 i32 i32)))
  (import "latchwork:plugin/clock@0.1.0" "now" (func $now (param i32))) ;; step
  (import "latchwork:plugin/rng@0.1.0" "bytes" (func $bytes (param i32 i32))) ;; step
  (import "real:clocks/wall-clock@0.2.6" "now" (func $now (param i32))) ;; tool
  (import "real:random/random@0.2.6" "get-random-bytes" (func $bytes (param i64 i32))) ;; tool

  ;; 1 while the host writes into memory.
  (global $held (mut i32) (i32.const 0))
  ;; Lower bound of the next clock reading, in nanoseconds. Go treats 0 as a broken clock.
  (global $clock (mut i64) (i64.const 1000))
  ;; Destination of the random bytes that are being fetched.
  (global $into (mut i32) (i32.const 0))
  ;; Lengths in bytes of the two unfinished lines.
  (global $out (mut i32) (i32.const 0))
  (global $err (mut i32) (i32.const 0))

  ;; --- the component's exports -------------------------------------------------------------------

  (func (export "cabi_export_realloc") (param i32 i32 i32 i32) (result i32)
    (global.set $held (i32.const 1))
    (call $realloc (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (global.set $held (i32.const 0)))
  ;; Returns the destination of random bytes. No other import of this module returns data in allocated memory.
  (func (export "cabi_import_realloc") (param i32 i32 i32 i32) (result i32)
    (global.get $into))
  ;; The plugin announces that the host will write into memory, or that the host has finished.
  (func (export "latch_hold") (param i32) (global.set $held (local.get 0)))

  (func (export "latchwork:plugin/plugin@0.1.0#describe") (result i32)
    (call $describe))
  (func (export "latchwork:plugin/run@0.1.0#run") (param i32 i32 i32 i32) (result i32)
    (call $run (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (call $flush))
  (func (export "latchwork:plugin/invoke@0.1.0#invoke") (param i32 i32 i32 i32) (result i32)
    (call $invoke (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (call $flush))
  (func (export "latchwork:plugin/reconcile@0.1.0#reconcile") (param i32 i32 i32 i32 i32 i32) (result i32)
    (call $reconcile (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5))
    (call $flush))
  (func (export "latchwork:plugin/verify@0.1.0#verify") (param i32) (result i32)
    (call $verify (local.get 0))
    (call $flush))
  (func (export "latchwork:plugin/compensate@0.1.0#compensate") (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $compensate
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6) (local.get 7))
    (call $flush))

  ;; --- time and randomness -----------------------------------------------------------------------

  ;; Advances the clock to the host's time in nanoseconds. The clock never goes back.
  (func $look (local $now i64)
    (call $now (i32.const 12224))
    (local.set $now
      (i64.add
        (i64.mul (i64.load (i32.const 12224)) (i64.const 1000000000))
        (i64.load32_u (i32.const 12232))))
    (if (i64.gt_s (local.get $now) (global.get $clock))
      (then (global.set $clock (local.get $now)))))

  (func (export "clock_time_get") (param $id i32) (param $precision i64) (param $time i32) (result i32)
    (if (i32.eqz (global.get $held))
      (then
        ;; In a step, only a read of the wall clock asks the host for the time. Go's scheduler reads the
        ;; monotonic clock endlessly, and the host's time advances only with answers.
        (if (i32.eqz (local.get $id)) ;; step
          (then ;; step
            (call $look)
          )) ;; step
      ))
    (i64.store (local.get $time) (global.get $clock))
    ;; Advances the clock, so that a loop which waits for time to pass ends.
    (global.set $clock (i64.add (global.get $clock) (i64.const 1000))) ;; step
    (i32.const 0))
  (func (export "clock_res_get") (param i32 i32) (result i32)
    (i64.store (local.get 1) (i64.const 1000))
    (i32.const 0))

  (func (export "random_get") (param $at i32) (param $len i32) (result i32) (local $part i32)
    (block $done
      (loop $again
        (br_if $done (i32.eqz (local.get $len)))
        (local.set $part
          (select (i32.const 65536) (local.get $len) (i32.gt_u (local.get $len) (i32.const 65536))))
        (global.set $into (local.get $at))
        (call $bytes (local.get $part) (i32.const 12224)) ;; step
        (call $bytes (i64.extend_i32_u (local.get $part)) (i32.const 12224)) ;; tool
        (local.set $at (i32.add (local.get $at) (local.get $part)))
        (local.set $len (i32.sub (local.get $len) (local.get $part)))
        (br $again)))
    (i32.const 0))

  ;; Sleeps until the earliest of several timers. A subscription that is not a timer is ready immediately.
  (func (export "poll_oneoff") (param $in i32) (param $events i32) (param $n i32) (param $count i32) (result i32)
    (local $wait i64) (local $least i64) (local $first i32)
    (local.set $least (i64.const -1))
    (block $done
      (loop $again
        (br_if $done (i32.eqz (local.get $n)))
        (local.set $wait (i64.const 0))
        (if (i32.eqz (i32.load8_u offset=8 (local.get $in)))
          (then
            (local.set $wait (i64.load offset=24 (local.get $in)))
            (if (i32.and (i32.load16_u offset=40 (local.get $in)) (i32.const 1))
              (then
                (local.set $wait
                  (select
                    (i64.sub (local.get $wait) (global.get $clock))
                    (i64.const 0)
                    (i64.gt_u (local.get $wait) (global.get $clock))))))))
        (if (i64.lt_u (local.get $wait) (local.get $least))
          (then
            (local.set $least (local.get $wait))
            (local.set $first (local.get $in))))
        (local.set $in (i32.add (local.get $in) (i32.const 48)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $again)))
    (if (i32.eqz (local.get $first)) (then (return (i32.const 28))))
    (call $sleep (local.get $least))
    (i64.store (local.get $events) (i64.load (local.get $first)))
    (i64.store offset=8 (local.get $events) (i64.shl (i64.load8_u offset=8 (local.get $first)) (i64.const 16)))
    (i64.store offset=16 (local.get $events) (i64.const 0))
    (i64.store offset=24 (local.get $events) (i64.const 0))
    (i32.store (local.get $count) (i32.const 1))
    (i32.const 0))
  ;; In a step, a sleep advances the clock, at most to the year 2262.
  (func $sleep (param $wait i64) ;; step
    (local.set $wait (i64.add (global.get $clock) (local.get $wait))) ;; step
    (global.set $clock ;; step
      (select (local.get $wait) (i64.const 0x7fffffffffff0000) ;; step
        (i64.lt_u (local.get $wait) (i64.const 0x7fffffffffff0000))))) ;; step
  ;; In a tool, a sleep reads the clock until the time is reached. ;; tool
  (func $sleep (param $wait i64) (local $until i64) ;; tool
    (call $look) ;; tool
    (local.set $until (i64.add (global.get $clock) (local.get $wait))) ;; tool
    (loop $again ;; tool
      (call $look) ;; tool
      (br_if $again (i64.lt_u (global.get $clock) (local.get $until))))) ;; tool

  ;; --- printed output ----------------------------------------------------------------------------

  ;; Logs a line with level info or warn. Text that is not UTF-8 would trap.
  (func $record (param $file i32) (param $line i32) (param $len i32)
    (call $clean (local.get $line) (local.get $len))
    (call $log (i32.add (local.get $file) (i32.const 1)) (local.get $line) (local.get $len)))

  (func $flush
    (if (global.get $out) (then (call $record (i32.const 1) (i32.const 4096) (global.get $out))))
    (if (global.get $err) (then (call $record (i32.const 2) (i32.const 8192) (global.get $err))))
    (global.set $out (i32.const 0))
    (global.set $err (i32.const 0)))

  (func (export "fd_write") (param $file i32) (param $part i32) (param $n i32) (param $written i32) (result i32)
    (local $at i32) (local $end i32) (local $sum i32) (local $byte i32) (local $line i32) (local $len i32)
    (if (i32.gt_u (i32.sub (local.get $file) (i32.const 1)) (i32.const 1)) (then (return (i32.const 8))))
    (local.set $line (i32.shl (local.get $file) (i32.const 12)))
    (local.set $len (select (global.get $out) (global.get $err) (i32.eq (local.get $file) (i32.const 1))))
    (block $done
      (loop $parts
        (br_if $done (i32.eqz (local.get $n)))
        (local.set $at (i32.load (local.get $part)))
        (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $part))))
        (local.set $sum (i32.add (local.get $sum) (i32.load offset=4 (local.get $part))))
        (block $next
          (loop $bytes
            (br_if $next (i32.eq (local.get $at) (local.get $end)))
            (local.set $byte (i32.load8_u (local.get $at)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            ;; A line ends here. A line that is too long becomes several.
            (if (i32.or (i32.eq (local.get $byte) (i32.const 10)) (i32.eq (local.get $len) (i32.const 4000)))
              (then
                (call $record (local.get $file) (local.get $line) (local.get $len))
                (local.set $len (i32.const 0))))
            (if (i32.ne (local.get $byte) (i32.const 10))
              (then
                (i32.store8 (i32.add (local.get $line) (local.get $len)) (local.get $byte))
                (local.set $len (i32.add (local.get $len) (i32.const 1)))))
            (br $bytes)))
        (local.set $part (i32.add (local.get $part) (i32.const 8)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $parts)))
    (if (i32.eq (local.get $file) (i32.const 1))
      (then (global.set $out (local.get $len)))
      (else (global.set $err (local.get $len))))
    (i32.store (local.get $written) (local.get $sum))
    (i32.const 0))

  ;; Replaces invalid UTF-8 with question marks.
  (func $clean (param $at i32) (param $len i32)
    (local $end i32) (local $byte i32) (local $more i32) (local $low i32) (local $high i32) (local $k i32)
    (local.set $end (i32.add (local.get $at) (local.get $len)))
    (block $done
      (loop $again
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (block $good
          (block $bad
            (local.set $more (i32.const 0))
            (br_if $good (i32.lt_u (local.get $byte) (i32.const 0x80)))
            (br_if $bad (i32.lt_u (local.get $byte) (i32.const 0xc2)))
            (br_if $bad (i32.gt_u (local.get $byte) (i32.const 0xf4)))
            ;; Number of following bytes, and the valid range of the first of them.
            (local.set $more
              (i32.add (i32.const 1)
                (i32.add (i32.ge_u (local.get $byte) (i32.const 0xe0)) (i32.ge_u (local.get $byte) (i32.const 0xf0)))))
            (local.set $low (i32.const 0x80))
            (local.set $high (i32.const 0xbf))
            (if (i32.eq (local.get $byte) (i32.const 0xe0)) (then (local.set $low (i32.const 0xa0))))
            (if (i32.eq (local.get $byte) (i32.const 0xed)) (then (local.set $high (i32.const 0x9f))))
            (if (i32.eq (local.get $byte) (i32.const 0xf0)) (then (local.set $low (i32.const 0x90))))
            (if (i32.eq (local.get $byte) (i32.const 0xf4)) (then (local.set $high (i32.const 0x8f))))
            (br_if $bad (i32.ge_u (i32.add (local.get $at) (local.get $more)) (local.get $end)))
            (local.set $k (i32.const 1))
            (loop $following
              (local.set $byte (i32.load8_u (i32.add (local.get $at) (local.get $k))))
              (br_if $bad (i32.lt_u (local.get $byte) (local.get $low)))
              (br_if $bad (i32.gt_u (local.get $byte) (local.get $high)))
              (local.set $low (i32.const 0x80))
              (local.set $high (i32.const 0xbf))
              (local.set $k (i32.add (local.get $k) (i32.const 1)))
              (br_if $following (i32.le_u (local.get $k) (local.get $more))))
            (br $good))
          (i32.store8 (local.get $at) (i32.const 63))
          (local.set $more (i32.const 0)))
        (local.set $at (i32.add (local.get $at) (i32.add (local.get $more) (i32.const 1))))
        (br $again))))

  ;; --- the end -----------------------------------------------------------------------------------

  ;; Called by os.Exit, and by Go's runtime after it has printed a fatal error.
  (func (export "proc_exit") (param $code i32) (local $at i32)
    (call $flush)
    ;; "os.Exit("
    (i64.store (i32.const 8192) (i64.const 0x28746978452e736f))
    (local.set $at (i32.const 8200))
    (block $small
      (br_if $small (i32.lt_u (local.get $code) (i32.const 10)))
      (if (i32.ge_u (local.get $code) (i32.const 100))
        (then
          (i32.store8 (local.get $at)
            (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $code) (i32.const 100)) (i32.const 10))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))))
      (i32.store8 (local.get $at)
        (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $code) (i32.const 10)) (i32.const 10))))
      (local.set $at (i32.add (local.get $at) (i32.const 1))))
    (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $code) (i32.const 10))))
    ;; "): a plugin answers, it does not exit"
    (i64.store offset=1 (local.get $at) (i64.const 0x756c702061203a29))
    (i64.store offset=9 (local.get $at) (i64.const 0x77736e61206e6967))
    (i64.store offset=17 (local.get $at) (i64.const 0x207469202c737265))
    (i64.store offset=25 (local.get $at) (i64.const 0x746f6e2073656f64))
    (i64.store offset=33 (local.get $at) (i64.const 0x7469786520))
    (global.set $err (i32.sub (i32.add (local.get $at) (i32.const 38)) (i32.const 8192)))
    (call $flush)
    unreachable)
  (func (export "proc_raise") (param i32) (result i32) unreachable)

  ;; --- unsupported functions ---------------------------------------------------------------------

  (func (export "sched_yield") (result i32) (i32.const 0))
  (func (export "args_get") (param i32 i32) (result i32) (i32.const 0))
  (func (export "args_sizes_get") (param i32 i32) (result i32)
    (i32.store (local.get 0) (i32.const 0))
    (i32.store (local.get 1) (i32.const 0))
    (i32.const 0))
  (func (export "environ_get") (param i32 i32) (result i32) (i32.const 0))
  (func (export "environ_sizes_get") (param i32 i32) (result i32)
    (i32.store (local.get 0) (i32.const 0))
    (i32.store (local.get 1) (i32.const 0))
    (i32.const 0))

  ;; Error 8: no such file is open.
  (func (export "fd_advise") (param i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_allocate") (param i32 i64 i64) (result i32) (i32.const 8))
  (func (export "fd_close") (param i32) (result i32) (i32.const 8))
  (func (export "fd_datasync") (param i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_set_flags") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_set_rights") (param i32 i64 i64) (result i32) (i32.const 8))
  (func (export "fd_filestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) (i32.const 8))
  (func (export "fd_filestat_set_times") (param i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_pread") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_dir_name") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_pwrite") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_read") (param i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_readdir") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_renumber") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_sync") (param i32) (result i32) (i32.const 8))
  (func (export "fd_tell") (param i32 i32) (result i32) (i32.const 8))
  (func (export "sock_accept") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "sock_recv") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "sock_send") (param i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "sock_shutdown") (param i32 i32) (result i32) (i32.const 8))
  ;; Error 44: no path exists.
  (func (export "path_create_directory") (param i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_filestat_get") (param i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) (i32.const 44))
  (func (export "path_link") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) (i32.const 44))
  (func (export "path_readlink") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_remove_directory") (param i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_rename") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_symlink") (param i32 i32 i32 i32 i32) (result i32) (i32.const 44))
  (func (export "path_unlink_file") (param i32 i32 i32) (result i32) (i32.const 44)))
