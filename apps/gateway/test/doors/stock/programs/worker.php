<?php
// A worker on php-gearman: worker.php PORT PREFIX [TIMEOUT-SECONDS]. See README.md.

function say(string $line): void
{
    fwrite(STDOUT, "$line\n");
}

function bytes(string $data): string
{
    return $data === '' ? '-' : bin2hex($data);
}

$functions = [
    'echo' => fn (GearmanJob $job) => $job->workload(),
    'talk' => function (GearmanJob $job) {
        $job->sendData('one');
        $job->sendData("t\0o");
        $job->sendWarning('careful');
        $job->sendStatus(1, 4);
        return 'end';
    },
    'fail' => fn (GearmanJob $job) => $job->sendFail(),
    'boom' => fn (GearmanJob $job) => $job->sendException('kaboom'),
    'note' => function (GearmanJob $job) {
        say('got ' . bytes($job->workload()));
        $job->sendComplete('');
    },
    'unique' => fn (GearmanJob $job) => $job->unique(),
    // Runs until it is told to end by a line.
    'hold' => function (GearmanJob $job) {
        $job->sendStatus(1, 4);
        say('holding ' . bytes($job->workload()));
        if (fgets(STDIN) === false) {
            exit(0);
        }
        return $job->workload();
    },
];

$worker = new GearmanWorker();
$worker->addServer('127.0.0.1', (int) $argv[1]);
$worker->addOptions(GEARMAN_WORKER_GRAB_UNIQ);
$worker->setId('php-worker');
foreach ($functions as $name => $run) {
    $worker->addFunction("$argv[2]-$name", $run, null, $name === 'hold' ? (int) ($argv[3] ?? 0) : 0);
}
// Short waits, so that waiting in vain and going on is tried as well.
$worker->setTimeout(200);
say('ready');
for (;;) {
    @$worker->work();
}
