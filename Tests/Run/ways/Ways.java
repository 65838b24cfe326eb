/** Real work, a line with its result, a line with the process, and a death of the given way. */
public class Ways {
    static class Place { int value; }

    static sun.misc.Unsafe unsafe() throws Exception {
        var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return (sun.misc.Unsafe) field.get(null);
    }

    static int look(Place place) { return place.value; }

    static int recover(int times) {
        int count = 0;
        for (int i = 0; i < times; i++) {
            try {
                look(null);
            } catch (NullPointerException caught) {
                count++;
            }
        }
        return count;
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("sum " + java.util.stream.IntStream.range(0, 1000000).parallel().map(i -> i % 7).sum());
        System.out.println(ProcessHandle.current().pid());
        switch (arguments[0]) {
        case "fault": unsafe().putInt(0L, 1); break;
        case "native", "abort": System.load(arguments[1]); break;
        case "memory":
            var kept = new java.util.ArrayList<byte[]>();
            while (true) {
                kept.add(new byte[1 << 20]);
                java.util.Arrays.fill(kept.get(kept.size() - 1), (byte) 1);
            }
        case "recover":
            Place place = new Place();
            for (int i = 0; i < 50000; i++) // until it is compiled, with a check that faults
                look(place);
            long begun = System.nanoTime();
            int count = recover(20000);
            System.out.println(count + " " + (System.nanoTime() - begun));
            break;
        default: Thread.currentThread().join();
        }
    }
}
